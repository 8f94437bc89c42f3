// Package programs are the functions, to be called as Go.
package programs

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"rollcall/functions/change-check/changecheck"
	changecheckspec "rollcall/functions/change-check/spec"
	"rollcall/functions/eni-cleanup/enicleanup"
	enicleanupspec "rollcall/functions/eni-cleanup/spec"
	"rollcall/functions/join-check/joincheck"
	joincheckspec "rollcall/functions/join-check/spec"
	"rollcall/functions/launch-watch/launchwatch"
	launchwatchspec "rollcall/functions/launch-watch/spec"
	"rollcall/functions/nodegroup-watch/nodegroupwatch"
	nodegroupwatchspec "rollcall/functions/nodegroup-watch/spec"
	"rollcall/functions/notify-targets/notifytargets"
	notifytargetsspec "rollcall/functions/notify-targets/spec"
	"rollcall/functions/relay/relay"
	relayspec "rollcall/functions/relay/spec"
	"rollcall/functions/remediate/remediate"
	remediatespec "rollcall/functions/remediate/spec"
	"rollcall/functions/report/report"
	reportspec "rollcall/functions/report/spec"
	"rollcall/functions/slack-actions/slackactions"
	slackactionsspec "rollcall/functions/slack-actions/spec"
	spotreportspec "rollcall/functions/spot-report/spec"
	"rollcall/functions/spot-report/spotreport"
	subnetwatchspec "rollcall/functions/subnet-watch/spec"
	"rollcall/functions/subnet-watch/subnetwatch"
	sweepspec "rollcall/functions/sweep/spec"
	"rollcall/functions/sweep/sweep"
	zonewatchspec "rollcall/functions/zone-watch/spec"
	"rollcall/functions/zone-watch/zonewatch"
	"rollcall/shared/lambda"
)

// All are those of the folder functions.
func All() []lambda.Program {
	return []lambda.Program{
		{Name: changecheckspec.Name, Variables: changecheckspec.Environment(), Build: changecheck.Build},
		{Name: enicleanupspec.Name, Variables: enicleanupspec.Environment(), Build: enicleanup.Build},
		{Name: joincheckspec.Name, Variables: joincheckspec.Environment(), Build: joincheck.Build},
		{Name: launchwatchspec.Name, Variables: launchwatchspec.Environment(), Build: launchwatch.Build},
		{Name: nodegroupwatchspec.Name, Variables: nodegroupwatchspec.Environment(), Build: nodegroupwatch.Build},
		{Name: notifytargetsspec.Name, Variables: notifytargetsspec.Environment(), Build: notifytargets.Build},
		{Name: relayspec.Name, Variables: relayspec.Environment(), Build: relay.Build},
		{Name: remediatespec.Name, Variables: remediatespec.Environment(), Build: remediate.Build},
		{Name: reportspec.Name, Variables: reportspec.Environment(), Build: report.Build},
		{Name: slackactionsspec.Name, Variables: slackactionsspec.Environment(), Build: slackactions.Build},
		{Name: spotreportspec.Name, Variables: spotreportspec.Environment(), Build: spotreport.Build},
		{Name: subnetwatchspec.Name, Variables: subnetwatchspec.Environment(), Build: subnetwatch.Build},
		{Name: sweepspec.Name, Variables: sweepspec.Environment(), Build: sweep.Build},
		{Name: zonewatchspec.Name, Variables: zonewatchspec.Environment(), Build: zonewatch.Build},
	}
}

// bootstrap is what Lambda calls the program of a function (Lambda developer guide,
// "Building a custom runtime").
const bootstrap = "bootstrap"

// Called is the function as which a program is started that holds all of them: the one
// of whose folder it is the bootstrap.
func Called(path string) (lambda.Program, bool) {
	all := All()
	i := slices.IndexFunc(all, func(p lambda.Program) bool { return p.Name == filepath.Base(filepath.Dir(path)) })
	if i < 0 || filepath.Base(path) != bootstrap {
		return lambda.Program{}, false
	}
	return all[i], true
}

// Place makes <function>/bootstrap in a folder for each function, all of them the
// program at a path, which asks Called when it starts.
func Place(program, folder string) error {
	for _, p := range All() {
		dir := filepath.Join(folder, p.Name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("make a folder for %s: %w", p.Name, err)
		}
		at := filepath.Join(dir, bootstrap)
		// A link where that can be: Windows lets few make symbolic ones, and a file
		// system may have no others.
		err := os.Symlink(program, at)
		if err != nil {
			err = os.Link(program, at)
		}
		if err != nil {
			err = clone(program, at)
		}
		if err != nil {
			return fmt.Errorf("place %s: %w", p.Name, err)
		}
	}
	return nil
}

func clone(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
