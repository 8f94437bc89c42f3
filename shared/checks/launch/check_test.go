package launch

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/shared/checks/check"
	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

func addGroup(s *snapshot.Snapshot, name string) {
	s.Groups = append(s.Groups, snapshot.Group{Name: name, Subnets: []string{snapshottest.Private}, Max: 3})
}

// launchOutcomes are the cases that every check of failed launches must hold,
// for a text of its class: fail is the finding.
func launchOutcomes(text, fail string) []checktest.Case {
	pass := []string{"pass prod [eks-workers]"}
	both := []string{fail, "pass prod [eks-others]"}
	if strings.Fields(fail)[1] > "prod" { // findings are ordered by resource
		slices.Reverse(both)
	}
	return []checktest.Case{
		{"no failed launch", snapshottest.PrivateWithNAT(), pass},
		{"its text", checktest.Attempted(text), []string{fail}},
		{"no message, and the text in the description", checktest.Attempted(text, func(a *snapshot.Activity) { a.Message = "" }), []string{fail}},
		{"a text of another class", checktest.Attempted(another(text)), pass},
		{"an hour ago", checktest.Change(snapshottest.PrivateWithNAT(), func(s *snapshot.Snapshot) { checktest.Fails(s, text, 61*time.Minute) }), pass},
		{"of a group that is not the cluster's", checktest.Attempted(text, func(a *snapshot.Activity) { a.Group = "other" }), pass},
		{"it ended an instance", checktest.Attempted(text, func(a *snapshot.Activity) { a.About = "Terminating EC2 instance: i-0other" }), pass},
		{"called off", checktest.Attempted(text, func(a *snapshot.Activity) {
			a.Status, a.About, a.Message = "Cancelled", "Launching a new EC2 instance: i-0new", ""
		}), pass},
		{"called off, with its text", checktest.Attempted(text, func(a *snapshot.Activity) { a.Status = "Cancelled" }), []string{fail}},
		{"still under way", checktest.Attempted(text, func(a *snapshot.Activity) { a.Status = "InProgress" }), pass},
		{"a status newer than this program", checktest.Attempted(text, func(a *snapshot.Activity) { a.Status = "Wobbling" }), []string{
			`unknown eks-workers [eks-workers] scaling activities: broken: a scaling activity of eks-workers (Wobbling, 14:50:00 UTC) cannot be told to have succeeded`,
		}},
		{"no status at all", checktest.Attempted(text, func(a *snapshot.Activity) { a.Status = "" }), []string{
			`unknown eks-workers [eks-workers] scaling activities: broken: a scaling activity of eks-workers (no status, 14:50:00 UTC) cannot be told to have succeeded`,
		}},
		{"without a time", checktest.Attempted(text, func(a *snapshot.Activity) { a.Started, a.Ended = time.Time{}, time.Time{} }), []string{
			`unknown eks-workers [eks-workers] scaling activities: broken: a scaling activity of eks-workers (Failed, an unknown time) cannot be told to have succeeded`,
		}},
		{"a later launch in the subnet succeeded", checktest.Change(checktest.Attempted(text), func(s *snapshot.Snapshot) {
			checktest.Fails(s, "", 5*time.Minute, func(a *snapshot.Activity) {
				a.Status, a.About, a.Instance = "Successful", "Launching a new EC2 instance: i-0new", "i-0new"
			})
		}), pass},
		{"a later launch in another subnet succeeded", checktest.Change(checktest.Attempted(text), func(s *snapshot.Snapshot) {
			checktest.Fails(s, "", 5*time.Minute, func(a *snapshot.Activity) {
				a.Status, a.About, a.Instance, a.Subnet = "Successful", "Launching a new EC2 instance: i-0new", "i-0new", "subnet-0other"
			})
		}), []string{fail}},
		{"a later instance runs there, its activity still open", checktest.Change(checktest.Attempted(text), func(s *snapshot.Snapshot) {
			snapshottest.Launch(s, "i-0new", snapshottest.Private, 2*time.Minute)
		}), pass},
		{"it failed, then succeeded, then failed again", checktest.Change(checktest.Attempted(text), func(s *snapshot.Snapshot) {
			checktest.Fails(s, "", 5*time.Minute, func(a *snapshot.Activity) { a.Status, a.About = "Successful", "Launching a new EC2 instance: i-0new" })
			checktest.Fails(s, text, time.Minute)
		}), []string{fail}},
		{"another group is well", checktest.Change(checktest.Attempted(text), func(s *snapshot.Snapshot) { addGroup(s, "eks-others") }), both},
		{"one group's activities could not be read", checktest.Change(snapshottest.PrivateWithNAT(), func(s *snapshot.Snapshot) {
			s.Lack(snapshot.Activities, checktest.WorkersGroup, snapshot.Failure{Source: snapshot.Activities, Reason: snapshot.Throttled, Call: "autoscaling:DescribeScalingActivities"})
		}), []string{"unknown eks-workers [eks-workers] scaling activities: throttled"}},
		{"activities unread", checktest.Change(checktest.Attempted(text), checktest.Unread(snapshot.Activities)), []string{"unknown prod [] scaling activities: denied"}},
		{"groups unread", checktest.Change(checktest.Attempted(text), checktest.Unread(snapshot.Groups)), []string{"unknown prod [] auto scaling groups: denied"}},
	}
}

// another is a text of a class that the given one is not.
func another(text string) string {
	const limit, none = "VcpuLimitExceeded", "Max spot instance count exceeded. Launching EC2 instance failed."
	if strings.Contains(text, "vCPU") {
		return none
	}
	return limit
}

// Two groups that one quota stops are one finding, and so are a thousand
// launches of one group; the words are the same however many there are.
func TestOneFindingForOneCause(t *testing.T) {
	const text = "You have requested more vCPU capacity than your current vCPU limit of 8 allows for the instance bucket that the specified instance type belongs to. Launching EC2 instance failed."
	s := checktest.Attempted(text)
	once := checktest.Failed(t, VCPULimit(), s)
	addGroup(s, "eks-others")
	s.Nodegroups = append(s.Nodegroups, snapshot.Nodegroup{Name: "others", Groups: []string{"eks-others"}, Types: []string{"c5.large", "r5.large"}})
	for n := range 1000 {
		checktest.Fails(s, text, time.Duration(n)*time.Second, func(a *snapshot.Activity) {
			if n%2 == 0 {
				a.Group = "eks-others"
			}
		})
	}
	got := checktest.Failed(t, VCPULimit(), s)
	if got.Resource != "L-1216C47A" || fmt.Sprint(got.Covers) != "[eks-others eks-workers]" {
		t.Errorf("%s covers %v", got.Resource, got.Covers)
	}
	if want := "1001, from 14:43:21 UTC to 15:00:00 UTC"; checktest.Value(t, got, "Failed launches") != want {
		t.Errorf("Failed launches: %q, want %q", checktest.Value(t, got, "Failed launches"), want)
	}
	if len(got.Evidence) > 4 {
		t.Errorf("evidence repeats itself: %v", got.Evidence)
	}
	s.Groups, s.Activities = s.Groups[:1], s.Activities[:1]
	for n := range 50 {
		checktest.Fails(s, text, time.Duration(n)*time.Second)
	}
	if many := checktest.Failed(t, VCPULimit(), s); many.Why != once.Why || many.Title != once.Title || many.Fix != once.Fix {
		t.Errorf("the words change with how many failed:\n%q\n%q", once.Why, many.Why)
	}
}

func TestLaunchWords(t *testing.T) {
	const text = "There are not enough free addresses in subnet 'subnet-0private' to satisfy the requested number of instances. Launching EC2 instance failed."
	got := checktest.Failed(t, SubnetFull(), checktest.Attempted(text))
	want := `No instance of workers could be started in subnet-0private: the subnet has no free address left for the instance. AWS says: "` + strings.TrimSuffix(text, ".") + `".`
	if got.Why != want {
		t.Errorf("Why = %q, want %q", got.Why, want)
	}
	if want := "aws ec2 describe-network-interfaces --region us-west-2 --filters Name=subnet-id,Values=subnet-0private Name=status,Values=available"; got.Fix.Command != want {
		t.Errorf("Command = %q, want %q", got.Fix.Command, want)
	}
	if want := "14:50:00 UTC Failed: " + text; checktest.Value(t, got, "Scaling activity of eks-workers") != want {
		t.Errorf("evidence %q, want %q", checktest.Value(t, got, "Scaling activity of eks-workers"), want)
	}
}

// Names of groups may hold anything: commands can be pasted, links work.
func TestGroupNamesAreQuoted(t *testing.T) {
	const odd = "my group's; rm -rf /"
	s := checktest.Attempted("The moon is wrong.", func(a *snapshot.Activity) { a.Group = odd })
	addGroup(s, odd)
	got := checktest.Failed(t, Unclassified(), s)
	if want := `--auto-scaling-group-name 'my group'\''s; rm -rf /' --max-items`; !strings.Contains(got.Fix.Command, want) {
		t.Errorf("Command = %q, want %q in it", got.Fix.Command, want)
	}
	if strings.ContainsAny(got.Fix.Console, " ';") && !strings.Contains(got.Fix.Console, "id=my%20group") {
		t.Errorf("Console = %q", got.Fix.Console)
	}
}

// An activity that says nothing is one that cannot be told to have succeeded.
func TestEmptyActivitiesAreUnknown(t *testing.T) {
	s := snapshottest.PrivateWithNAT()
	s.Activities = []snapshot.Activity{{}, {Group: checktest.WorkersGroup}, {Group: checktest.WorkersGroup, About: "Launching a new EC2 instance"}, {Group: checktest.WorkersGroup, Status: "Failed"}}
	got := checktest.Lines(check.Eval([]check.Check{Unclassified()}, s))
	want := `unknown eks-workers [eks-workers] scaling activities: broken: a scaling activity of eks-workers (Failed, an unknown time) cannot be told to have succeeded`
	if len(got) != 1 || got[0] != want {
		t.Errorf("%q, want %q", got, want)
	}
}
