package main

import "github.com/rogpeppe/go-internal/testscript"

func readme(ts *testscript.TestScript, neg bool, args []string) {}
