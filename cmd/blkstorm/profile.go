package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"blkstorm/plan"
	"blkstorm/plan/profile"
)

// profileRow is a profile in a list.
type profileRow struct {
	Name     string       `json:"name"`
	Summary  string       `json:"summary"`
	Writes   bool         `json:"writes"`
	Time     string       `json:"time"`       // of all ramps, windows and idle times, at most
	Quick    string       `json:"quick_time"` // the same with --quick
	Settings []settingRow `json:"settings"`
	Claims   []string     `json:"claims,omitempty"` // the drives that --claims knows
}

type settingRow struct {
	Name    string `json:"name"`
	Default string `json:"default"`
	Quick   string `json:"quick,omitempty"`
	List    bool   `json:"list,omitempty"`
	Is      string `json:"is"`
}

type profileList struct {
	Schema   string       `json:"schema"`
	Profiles []profileRow `json:"profiles"`
}

func (a *app) profileCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "profile",
		Short: "Run a published procedure by its name, or show it as a plan file",
		Long: `The procedures of published reviews and specifications, each as a plan file that can be shown, saved,
edited and run. Each says where it comes from, what it leaves out and what is assumed.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("unknown command %q; blkstorm profile --help lists them", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.profileListCommand(), a.profileShowCommand(), a.profileRunCommand())
	return cmd
}

func (a *app) profileListCommand() *cobra.Command {
	var format string
	known := []string{"text", "json"}
	cmd := &cobra.Command{
		Use:   "list [flags]",
		Short: "List the profiles, with what can be set in each",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("%q: profile list takes no name; profile show %s shows it", args[0], args[0])
			}
			return nil
		},
		RunE: func(*cobra.Command, []string) error {
			if !slices.Contains(known, format) {
				return fmt.Errorf("--format %q: known are %s", format, strings.Join(known, ", "))
			}
			list := &profileList{Schema: "blkstorm.profiles/1"}
			for _, p := range profile.All() {
				row, err := rowOf(p)
				if err != nil {
					return err
				}
				list.Profiles = append(list.Profiles, *row)
			}
			if format == "json" {
				return writeJSON(a.stdout, list)
			}
			return profileText(a.stdout, list)
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", "what goes to standard output, `NAME` is "+strings.Join(known, "|"))
	return cmd
}

func rowOf(p *profile.Profile) (*profileRow, error) {
	row := &profileRow{Name: p.Name, Summary: p.Summary}
	for _, at := range []struct {
		quick bool
		time  *string
	}{{false, &row.Time}, {true, &row.Quick}} {
		pl, err := p.Plan(profile.Options{Quick: at.quick}, 0)
		if err != nil {
			return nil, err
		}
		*at.time = pl.Time().String()
		row.Writes = row.Writes || pl.Writes(0)
	}
	for _, s := range p.Settings {
		row.Settings = append(row.Settings, settingRow{Name: s.Name, Default: s.Default, Quick: s.Quick, List: s.IsList(), Is: s.Is})
	}
	if p.TakesClaims {
		row.Claims = profile.ClaimNames()
	}
	return row, nil
}

// profileText is a table of the profiles.
func profileText(w io.Writer, list *profileList) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "PROFILE\tTIME\tQUICK\tWRITES\tWHAT IT IS")
	for _, p := range list.Profiles {
		writes := "no"
		if p.Writes {
			writes = "yes"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", p.Name, rounded(p.Time), rounded(p.Quick), writes, p.Summary)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w, "\nTimes are at most, beside what purges and fills take. blkstorm profile show NAME prints the plan file,\nprofile show NAME --help what can be set.")
	return err
}

// rounded shortens a time: to seconds, and to minutes from an hour on.
func rounded(text string) string {
	d, err := time.ParseDuration(text)
	if err != nil {
		return text
	}
	if d >= time.Hour {
		return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
	}
	return d.Round(time.Second).String()
}

func (a *app) profileShowCommand() *cobra.Command {
	var set profileFlags
	cmd := &cobra.Command{
		Use:   "show [flags] NAME [TARGET...]",
		Short: "Print a profile as a plan file",
		Long: `Print the plan file of a profile: what profile run NAME with the same options runs. It can be saved,
edited and run by plan run. profile show NAME --help lists what can be set in that profile.`,
		Example: `  blkstorm profile show snia-iops > my.yaml
  blkstorm profile show hcibench-storagereview --iodepth 16 --destroy /dev/sdb /dev/sdc | blkstorm plan check -`,
		Args:              needProfile,
		ValidArgsFunction: completeProfile,
		RunE: func(cmd *cobra.Command, args []string) error {
			p, o, err := a.profileOf(cmd.Flags(), &set, args)
			if err != nil {
				return err
			}
			if _, err := p.Plan(*o, 0); err != nil {
				return err
			}
			text, err := p.File(*o)
			if err == nil {
				_, err = a.stdout.Write(text)
			}
			return err
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	set.add(f)
	cmd.SetHelpFunc(a.profileHelp(cmd.HelpFunc()))
	return cmd
}

func (a *app) profileRunCommand() *cobra.Command {
	var set profileFlags
	var out outputFlags
	cmd := &cobra.Command{
		Use:   "run [flags] NAME [TARGET...]",
		Short: "Run a profile",
		Long: `Run a published procedure on all TARGETs at once; with none, on a scratch file of 1 GiB (or --size).
profile show NAME prints what it does, and profile run NAME --help lists what can be set in that profile.

With --quick all times are scaled down, so that it takes minutes on a small device; the result is marked, and
is not comparable with the published procedure.`,
		Example: `  blkstorm profile run storagereview-ssd --purge --dir result --destroy /dev/sdb
  blkstorm profile run drive-spec --claims PX04SHB040 --destroy /dev/sdb
  blkstorm profile run snia-iops --quick`,
		Args:              unlessResumed(needProfile),
		ValidArgsFunction: completeProfile,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.runOrResume(cmd, args, &out, func() (*plan.Plan, error) {
				p, o, err := a.profileOf(cmd.Flags(), &set, args)
				if err != nil {
					return nil, err
				}
				return p.Plan(*o, newSeed())
			})
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	set.add(f)
	out.add(f)
	cmd.SetHelpFunc(a.profileHelp(cmd.HelpFunc()))
	return cmd
}

func needProfile(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return fmt.Errorf("no profile is named; write %s NAME, with one of %s", cmd.CommandPath(), strings.Join(profile.Names(), ", "))
	case slices.Contains(args[1:], ""):
		return errors.New("a TARGET is empty")
	}
	// --purge false is --purge and a target: what should be kept would be discarded.
	for _, word := range []string{"true", "false"} {
		if cmd.Flags().Changed("purge") && slices.Contains(args, word) {
			return fmt.Errorf("%q is a TARGET here, not a value: write --purge=%s, or ./%s for a file of that name", word, word, word)
		}
	}
	return nil
}

// completeProfile names the profiles for the shell's completion; what follows them are files.
func completeProfile(_ *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	names := slices.DeleteFunc(profile.Names(), func(name string) bool { return !strings.HasPrefix(name, begun) })
	return names, cobra.ShellCompDirectiveNoFileComp
}

// profileHelp is the help of a command; where a profile is named, it is about what can be set in that.
func (a *app) profileHelp(usual func(*cobra.Command, []string)) func(*cobra.Command, []string) {
	return func(cmd *cobra.Command, args []string) {
		p, err := profile.Get(cmd.Flags().Arg(0))
		if err != nil {
			usual(cmd, args)
			return
		}
		fmt.Fprintf(a.stdout, "%s: %s\n\nWhat can be set, with its default:\n", p.Name, p.Summary)
		t := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
		for _, s := range p.Settings {
			preset := s.Default
			if s.Quick != "" {
				preset += ", quick " + s.Quick
			}
			fmt.Fprintf(t, "  --%s\t%s\t%s\n", s.Name, preset, s.Is)
		}
		if p.TakesClaims {
			fmt.Fprintf(t, "  --claims\t\t%s, or a file\n", strings.Join(profile.ClaimNames(), ", "))
		}
		_ = t.Flush() // what follows fails alike where standard output is gone
		fmt.Fprintf(a.stdout, "\n%s --help lists the options that all profiles have.\n", cmd.CommandPath())
	}
}
