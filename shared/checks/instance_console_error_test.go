package checks

import (
	"slices"
	"strings"
	"testing"
	"time"

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

func launchedToo(id string, ago time.Duration) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { snapshottest.Launch(s, id, snapshottest.Private, ago) }
}

func notReadyNode(message string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		snapshottest.Unjoin(s, snapshottest.Node)
		s.Nodes = append(s.Nodes, snapshot.Node{Name: "i-0node.internal", Instance: snapshottest.Node, Ready: snapshot.Condition{Status: "False", Reason: "KubeletNotReady", Message: message}})
	}
}

// silent takes the consoles away: none was read.
func silent(s *snapshot.Snapshot) { s.Consoles = nil }

func notDueYet(s *snapshot.Snapshot) { s.Launches[0].Due = s.Time.Add(time.Minute) }

func TestConsoleError(t *testing.T) { runCases(t, consoleError(), consoleErrorCases()) }

func consoleErrorCases() []testCase {
	const incomplete = "the NodeConfig is incomplete"
	fail := []string{"fail workers [i-0node] [i-0node] i-0node: " + incomplete}
	return []testCase{
		{"Ready", snapshottest.PrivateWithNAT(), []string{"pass prod [i-0node]"}},
		{"Ready, whatever it wrote", change(snapshottest.PrivateWithNAT(), wrote(snapshottest.Node, badConfig)), []string{"pass prod [i-0node]"}},
		{"it tells", change(missed(), wrote(snapshottest.Node, badConfig)), fail},
		{"it tells before it is due", change(missed(), wrote(snapshottest.Node, badConfig), notDueYet), fail},
		{"timeouts that may still pass, before it is due", change(missed(), wrote(snapshottest.Node, consoleStart+strings.Repeat(timeoutLine, 9)), notDueYet), nil},
		{"timeouts", change(missed(), wrote(snapshottest.Node, consoleStart+strings.Repeat(timeoutLine, 9))), []string{
			"fail workers [i-0node] [i-0node] i-0node: the cluster's API does not answer",
		}},
		{"no proof: likely", change(missed(), wrote(snapshottest.Node, fullDisk)), []string{"fail (likely) workers [i-0node] [i-0node] i-0node: a disk is full"}},
		{"no proof, before it is due", change(missed(), wrote(snapshottest.Node, fullDisk), notDueYet), nil},
		{"a start without a known failure", change(missed(), wrote(snapshottest.Node, consoleStart+"kubelet[2]: I1\n")), []string{"pass workers [i-0node]"}},
		{"nothing was written", change(missed(), wrote(snapshottest.Node, " \r\n")), []string{
			"unknown workers [i-0node] console output: not read: i-0node has written nothing to its console yet",
		}},
		{"nothing was written, not due", change(missed(), wrote(snapshottest.Node, ""), notDueYet), nil},
		{"it ends in the kernel", change(missed(), wrote(snapshottest.Node, "[    0.000000] Linux version 6.1.112\n")), []string{
			"unknown workers [i-0node] console output: not read: the console of i-0node ends at the kernel, before the bootstrap",
		}},
		{"no console", change(missed(), silent), []string{"unknown workers [i-0node] console output: not read: i-0node is not among the consoles that were read"}},
		{"its console could not be read", change(missed(), silent, func(s *snapshot.Snapshot) {
			s.Lack(snapshot.Consoles, snapshottest.Node, snapshot.Failure{Source: snapshot.Consoles, Reason: snapshot.Throttled, Call: "ec2:GetConsoleOutput"})
		}), []string{"unknown workers [i-0node] console output: throttled"}},
		{"a sample of a group", change(missed(), launchedToo("i-0second", 10*time.Minute), launchedToo("i-0third", time.Minute), wrote(snapshottest.Node, badConfig)), []string{
			"fail workers [i-0node i-0second] [i-0node i-0second] 2 instances: " + incomplete,
		}},
		{"another template is not alike", change(missed(), launchedToo("i-0second", 10*time.Minute), wrote(snapshottest.Node, badConfig), func(s *snapshot.Snapshot) {
			snapshottest.Instance(s, "i-0second").Template.Version = "2"
		}), []string{
			"fail workers [i-0node] [i-0node] i-0node: " + incomplete,
			"unknown workers [i-0second] console output: not read: i-0second is not among the consoles that were read",
		}},
		{"the sample disagrees: the rest is not known", change(missed(), launchedToo("i-0second", 10*time.Minute), launchedToo("i-0third", 10*time.Minute), wrote(snapshottest.Node, badConfig), wrote("i-0second", consoleStart+refusedLine+refusedLine)), []string{
			// The first by name has the owner's resource: as many have each.
			"fail i-0node [i-0node] [i-0node] i-0node: " + incomplete,
			"fail workers [i-0second] [i-0second] i-0second: the API refuses the node's credentials",
			"unknown workers [i-0third] console output: not read: i-0third is not among the consoles that were read",
		}},
		{"a sample without a known failure", change(missed(), launchedToo("i-0second", 10*time.Minute), wrote(snapshottest.Node, consoleStart+"kubelet[2]: I1\n")), []string{"pass workers [i-0node]"}},
		{"timeouts: another subnet has another network", change(missed(), launchedToo("i-0second", 10*time.Minute), launchedToo("i-0third", 10*time.Minute), wrote(snapshottest.Node, consoleStart+strings.Repeat(timeoutLine, 9)), func(s *snapshot.Snapshot) {
			snapshottest.Instance(s, "i-0third").Subnet = snapshottest.Public
		}), []string{
			"fail workers [i-0node i-0second] [i-0node i-0second] 2 instances: the cluster's API does not answer",
			"unknown workers [i-0third] console output: not read: i-0third is not among the consoles that were read",
		}},
		{"registered since: how it came there is over", change(missed(), notReadyNode("x"), wrote(snapshottest.Node, badConfig)), []string{"pass workers [i-0node]"}},
		{"registered, and the disk is full", change(missed(), notReadyNode("x"), wrote(snapshottest.Node, fullDisk)), []string{
			"fail (likely) workers [i-0node] [i-0node] i-0node: a disk is full",
		}},
		{"unread", change(missed(), unread(snapshot.Consoles)), []string{"unknown prod [] console output: denied"}},
	}
}

func TestConsoleErrorWordsAndFix(t *testing.T) {
	got := failed(t, consoleError(), change(missed(), launchedToo("i-0second", 10*time.Minute), wrote(snapshottest.Node, badConfig)))
	if want := "The console of i-0node tells: the NodeConfig is incomplete (nodeadm-incomplete). nodeadm found no complete NodeConfig"; !strings.HasPrefix(got.Why, want) {
		t.Errorf("Why = %q, want it to begin with %q", got.Why, want)
	}
	if line := value(t, got, "Console of i-0node"); !strings.Contains(line, "Name is missing in cluster configuration") {
		t.Errorf("evidence = %q, want the line", line)
	}
	if line := value(t, got, "Consoles"); line != "1 of 2 were read; all of them say it" {
		t.Errorf("Consoles = %q", line)
	}
	if !strings.HasSuffix(got.Fix.Text, "See instance/user-data.") {
		t.Errorf("Fix = %q, want the check that looks at the cause", got.Fix.Text)
	}
}
