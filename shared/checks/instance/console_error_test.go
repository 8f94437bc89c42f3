package instance

import (
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

const (
	consoleStart = "[    0.000000] Linux version 6.1.112\n[  OK  ] Reached target Basic System.\n"
	badConfig    = consoleStart + `nodeadm[1]: {"level":"fatal","caller":"nodeadm/main.go:36","msg":"Command failed","error":"Name is missing in cluster configuration"}` + "\n"
	timeoutLine  = `kubelet[2]: "Unable to register node with API server" err="Post \"https://A.gr7.us-west-2.eks.amazonaws.com/api/v1/nodes\": dial tcp 10.0.0.1:443: i/o timeout"` + "\n"
	refusedLine  = "kubelet[2]: E1 reflector.go:123] Failed to list *v1.Service: Unauthorized\n"
	fullDisk     = consoleStart + "kubelet[2]: write /var/lib/kubelet/x: no space left on device\n"
)

// wrote gives an instance a console.
func wrote(id, text string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Consoles = slices.DeleteFunc(s.Consoles, func(c snapshot.Console) bool { return c.Instance == id })
		s.Consoles = append(s.Consoles, snapshot.Console{Instance: id, Text: text})
	}
}

// silent takes the consoles away: none was read.
func silent(s *snapshot.Snapshot) { s.Consoles = nil }

func TestConsoleError(t *testing.T) { checktest.RunCases(t, ConsoleError(), consoleErrorCases()) }

func consoleErrorCases() []checktest.Case {
	const incomplete = "the NodeConfig is incomplete"
	fail := []string{"fail workers [i-0node] [i-0node] i-0node: " + incomplete}
	return []checktest.Case{
		{"Ready", snapshottest.PrivateWithNAT(), []string{"pass prod [i-0node]"}},
		{"Ready, whatever it wrote", checktest.Change(snapshottest.PrivateWithNAT(), wrote(snapshottest.Node, badConfig)), []string{"pass prod [i-0node]"}},
		{"it tells", checktest.Change(checktest.Missed(), wrote(snapshottest.Node, badConfig)), fail},
		{"it tells before it is due", checktest.Change(checktest.Missed(), wrote(snapshottest.Node, badConfig), checktest.NotDueYet), fail},
		{"timeouts that may still pass, before it is due", checktest.Change(checktest.Missed(), wrote(snapshottest.Node, consoleStart+strings.Repeat(timeoutLine, 9)), checktest.NotDueYet), nil},
		{"timeouts", checktest.Change(checktest.Missed(), wrote(snapshottest.Node, consoleStart+strings.Repeat(timeoutLine, 9))), []string{
			"fail workers [i-0node] [i-0node] i-0node: the cluster's API does not answer",
		}},
		{"no proof: likely", checktest.Change(checktest.Missed(), wrote(snapshottest.Node, fullDisk)), []string{"fail (likely) workers [i-0node] [i-0node] i-0node: a disk is full"}},
		{"no proof, before it is due", checktest.Change(checktest.Missed(), wrote(snapshottest.Node, fullDisk), checktest.NotDueYet), nil},
		{"a start without a known failure", checktest.Change(checktest.Missed(), wrote(snapshottest.Node, consoleStart+"kubelet[2]: I1\n")), []string{"pass workers [i-0node]"}},
		{"nothing was written", checktest.Change(checktest.Missed(), wrote(snapshottest.Node, " \r\n")), []string{
			"unknown workers [i-0node] console output: not read: i-0node has written nothing to its console yet",
		}},
		{"nothing was written, not due", checktest.Change(checktest.Missed(), wrote(snapshottest.Node, ""), checktest.NotDueYet), nil},
		{"it ends in the kernel", checktest.Change(checktest.Missed(), wrote(snapshottest.Node, "[    0.000000] Linux version 6.1.112\n")), []string{
			"unknown workers [i-0node] console output: not read: the console of i-0node ends at the kernel, before the bootstrap",
		}},
		{"no console", checktest.Change(checktest.Missed(), silent), []string{"unknown workers [i-0node] console output: not read: i-0node is not among the consoles that were read"}},
		{"its console could not be read", checktest.Change(checktest.Missed(), silent, func(s *snapshot.Snapshot) {
			s.Lack(snapshot.Consoles, snapshottest.Node, snapshot.Failure{Source: snapshot.Consoles, Reason: snapshot.Throttled, Call: "ec2:GetConsoleOutput"})
		}), []string{"unknown workers [i-0node] console output: throttled"}},
		{"a sample of a group", checktest.Change(checktest.Missed(), checktest.LaunchedToo("i-0second", 10*time.Minute), checktest.LaunchedToo("i-0third", time.Minute), wrote(snapshottest.Node, badConfig)), []string{
			"fail workers [i-0node i-0second] [i-0node i-0second] 2 instances: " + incomplete,
		}},
		{"another template is not alike", checktest.Change(checktest.Missed(), checktest.LaunchedToo("i-0second", 10*time.Minute), wrote(snapshottest.Node, badConfig), func(s *snapshot.Snapshot) {
			snapshottest.Instance(s, "i-0second").Template.Version = "2"
		}), []string{
			"fail workers [i-0node] [i-0node] i-0node: " + incomplete,
			"unknown workers [i-0second] console output: not read: i-0second is not among the consoles that were read",
		}},
		{"the sample disagrees: the rest is not known", checktest.Change(checktest.Missed(), checktest.LaunchedToo("i-0second", 10*time.Minute), checktest.LaunchedToo("i-0third", 10*time.Minute), wrote(snapshottest.Node, badConfig), wrote("i-0second", consoleStart+refusedLine+refusedLine)), []string{
			// The first by name has the owner's resource: as many have each.
			"fail i-0node [i-0node] [i-0node] i-0node: " + incomplete,
			"fail workers [i-0second] [i-0second] i-0second: the API refuses the node's credentials",
			"unknown workers [i-0third] console output: not read: i-0third is not among the consoles that were read",
		}},
		{"a sample without a known failure", checktest.Change(checktest.Missed(), checktest.LaunchedToo("i-0second", 10*time.Minute), wrote(snapshottest.Node, consoleStart+"kubelet[2]: I1\n")), []string{"pass workers [i-0node]"}},
		{"timeouts: another subnet has another network", checktest.Change(checktest.Missed(), checktest.LaunchedToo("i-0second", 10*time.Minute), checktest.LaunchedToo("i-0third", 10*time.Minute), wrote(snapshottest.Node, consoleStart+strings.Repeat(timeoutLine, 9)), func(s *snapshot.Snapshot) {
			snapshottest.Instance(s, "i-0third").Subnet = snapshottest.Public
		}), []string{
			"fail workers [i-0node i-0second] [i-0node i-0second] 2 instances: the cluster's API does not answer",
			"unknown workers [i-0third] console output: not read: i-0third is not among the consoles that were read",
		}},
		{"registered since: how it came there is over", checktest.Change(checktest.Missed(), checktest.NotReadyNode("x"), wrote(snapshottest.Node, badConfig)), []string{"pass workers [i-0node]"}},
		{"registered, and the disk is full", checktest.Change(checktest.Missed(), checktest.NotReadyNode("x"), wrote(snapshottest.Node, fullDisk)), []string{
			"fail (likely) workers [i-0node] [i-0node] i-0node: a disk is full",
		}},
		{"unread", checktest.Change(checktest.Missed(), checktest.Unread(snapshot.Consoles)), []string{"unknown prod [] console output: denied"}},
	}
}

func TestConsoleErrorWordsAndFix(t *testing.T) {
	got := checktest.Failed(t, ConsoleError(), checktest.Change(checktest.Missed(), checktest.LaunchedToo("i-0second", 10*time.Minute), wrote(snapshottest.Node, badConfig)))
	if want := "The console of i-0node tells: the NodeConfig is incomplete (nodeadm-incomplete). nodeadm found no complete NodeConfig"; !strings.HasPrefix(got.Why, want) {
		t.Errorf("Why = %q, want it to begin with %q", got.Why, want)
	}
	if line := checktest.Value(t, got, "Console of i-0node"); !strings.Contains(line, "Name is missing in cluster configuration") {
		t.Errorf("evidence = %q, want the line", line)
	}
	if line := checktest.Value(t, got, "Consoles"); line != "1 of 2 were read; all of them say it" {
		t.Errorf("Consoles = %q", line)
	}
	if !strings.HasSuffix(got.Fix.Text, "See instance/user-data.") {
		t.Errorf("Fix = %q, want the check that looks at the cause", got.Fix.Text)
	}
}
