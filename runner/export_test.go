package runner

import (
	"blkstorm/ioengine"
	"blkstorm/ioengine/registry"
)

func registryLookup(cfg *Config) (*ioengine.Driver, error) {
	d, err := registry.Lookup(cfg.Engine)
	return &d, err
}
