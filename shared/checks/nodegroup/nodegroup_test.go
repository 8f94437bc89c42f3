package nodegroup

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/checktest"
	"rollcall/shared/nodegroup"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
	"rollcall/tools/expect"
)

func checkOf(id checkid.ID) check.Check { return checktest.One(Checks(), id) }

func TestCases(t *testing.T) {
	checktest.RunTable(t, Checks(), map[checkid.ID][]checktest.Case{
		checkid.NodegroupHealth:       nodegroupHealthCases(),
		checkid.NodegroupStatus:       nodegroupStatusCases(),
		checkid.NodegroupUpdateFailed: nodegroupUpdateFailedCases(),
	})
}

// groupIs changes the worlds' nodegroup; its issues are known for an hour.
func groupIs(status string, codes ...string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		n := &s.Nodegroups[0]
		n.Status, n.Since, n.Issues = status, s.Time.Add(-time.Hour), nil
		for _, code := range codes {
			code, resource, _ := strings.Cut(code, " ")
			i := snapshot.Issue{Code: code, Message: "about " + code, Since: s.Time.Add(-time.Hour)}
			if resource != "" {
				i.Resources = []string{resource}
			}
			n.Issues = append(n.Issues, i)
		}
	}
}

// before makes the worlds' node older than the issues; wanted asks for so many.
func before(s *snapshot.Snapshot) {
	snapshottest.Instance(s, snapshottest.Node).Launched = s.Time.Add(-2 * time.Hour)
}

// saysOf is what Auto Scaling says of an instance that ended before it was in
// service.
func saysOf(reason string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Nodegroups[0].Issues[0].Message = "Instance became unhealthy while waiting for instance to be in InService state. Termination Reason: " + reason
	}
}

func wanted(n int) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { s.Nodegroups[0].Desired = n }
}

func nodegroupHealthCases() []checktest.Case {
	world := snapshottest.PrivateWithNAT
	const named = "NodeCreationFailure " + snapshottest.Node
	return []checktest.Case{
		{"well", world(), []string{"pass workers [workers]"}},
		{"none is managed", checktest.Change(world(), func(s *snapshot.Snapshot) { s.Nodegroups = nil }), nil},
		{"a quota, and nothing disproves it", checktest.Change(world(), groupIs("DEGRADED", "InstanceLimitExceeded"), before, wanted(3)), []string{
			"fail workers [workers] [] nodegroup workers is degraded: instance limit exceeded",
		}},
		{"its groups ended in the middle of the look", checktest.Change(world(), groupIs("DELETING", "InstanceLimitExceeded"), before, wanted(3), func(s *snapshot.Snapshot) { s.Groups = nil }), []string{
			"unknown workers [workers] auto scaling groups: not read: the groups of workers no longer existed when they were read: it was deleted meanwhile",
		}},
		{"its group was deleted beside EKS", checktest.Change(world(), groupIs("DEGRADED", "AutoScalingGroupNotFound"), before, func(s *snapshot.Snapshot) { s.Groups = nil }), []string{
			"fail workers [workers] [] nodegroup workers is degraded: ASG not found",
		}},
		{"a quota, and a later launch joined", checktest.Change(world(), groupIs("DEGRADED", "InstanceLimitExceeded"), wanted(3)), []string{"pass workers [workers]"}},
		{"a quota, and all that are wanted are Ready", checktest.Change(world(), groupIs("DEGRADED", "InstanceLimitExceeded"), before), []string{"pass workers [workers]"}},
		{"a quota, and none is wanted", checktest.Change(world(), groupIs("DEGRADED", "InstanceLimitExceeded"), before, wanted(0)), []string{
			"fail workers [workers] [] nodegroup workers is degraded: instance limit exceeded",
		}},
		{"EC2 took a new instance back", checktest.Change(world(), groupIs("DEGRADED", "AsgInstanceLaunchFailures"), before, wanted(3), saysOf("Server.SpotInstanceTermination: Spot instance termination")), []string{"pass workers [workers]"}},
		{"a new instance had no key", checktest.Change(world(), groupIs("DEGRADED", "AsgInstanceLaunchFailures"), before, wanted(3), saysOf("Client.InvalidKMSKey.InvalidState: The KMS key provided is in an incorrect state")), []string{
			"fail (symptom) workers [workers] [] nodegroup workers is degraded: ASG instance launch failures",
		}},
		{"a quota, nodes unread", checktest.Change(world(), groupIs("DEGRADED", "InstanceLimitExceeded"), checktest.Unread(snapshot.Nodes)), []string{
			"fail (likely) workers [workers] [] nodegroup workers is degraded: instance limit exceeded",
		}},
		{"a quota, instances unread", checktest.Change(world(), groupIs("DEGRADED", "InstanceLimitExceeded"), checktest.Unread(snapshot.Instances)), []string{
			"fail (likely) workers [workers] [] nodegroup workers is degraded: instance limit exceeded",
		}},
		{"since when it is, nobody knows", checktest.Change(world(), groupIs("DEGRADED", "InstanceLimitExceeded"), wanted(3), func(s *snapshot.Snapshot) {
			s.Nodegroups[0].Issues[0].Since = time.Time{}
		}), []string{"fail workers [workers] [] nodegroup workers is degraded: instance limit exceeded"}},
		{"one that no launch disproves", checktest.Change(world(), groupIs("DEGRADED", "AccessDenied")), []string{
			"fail workers [workers] [] nodegroup workers is degraded: access denied",
		}},
		{"both kinds, one is over", checktest.Change(world(), groupIs("DEGRADED", "InstanceLimitExceeded", "AccessDenied")), []string{
			"fail workers [workers] [] nodegroup workers is degraded: access denied",
		}},
		{"an instance that waits", checktest.Change(checktest.Missed(), groupIs("DEGRADED", named)), []string{
			"fail (symptom) workers [workers] [i-0node] nodegroup workers is degraded: node creation failure",
		}},
		{"the named instance is Ready", checktest.Change(world(), groupIs("DEGRADED", named), before, wanted(3)), []string{"pass workers [workers]"}},
		{"an instance that nobody knows", checktest.Change(checktest.Missed(), groupIs("DEGRADED", "NodeCreationFailure i-0gone"), before), []string{
			"fail (symptom) workers [workers] [] nodegroup workers is degraded: node creation failure",
		}},
		{"the launch itself failed", checktest.Change(checktest.Missed(), groupIs("CREATE_FAILED", "NodeCreationFailure DUMMY_7f1c"), before), []string{
			"fail (symptom) workers [workers] [] nodegroup workers could not be created: node creation failure",
		}},
		{"a symptom beside a cause", checktest.Change(checktest.Missed(), groupIs("DEGRADED", named, "IamNodeRoleNotFound"), before), []string{
			"fail workers [workers] [i-0node] nodegroup workers is degraded: IAM node role not found",
		}},
		{"no addresses: the subnets tell", checktest.Change(checktest.Missed(), groupIs("DEGRADED", "InsufficientFreeAddresses"), before), []string{
			"fail (symptom) workers [workers] [] nodegroup workers is degraded: insufficient free addresses",
		}},
		{"no addresses, subnets unread", checktest.Change(checktest.Missed(), groupIs("DEGRADED", "InsufficientFreeAddresses"), before, checktest.Unread(snapshot.Subnets)), []string{
			"fail workers [workers] [] nodegroup workers is degraded: insufficient free addresses",
		}},
		{"active with an issue that nobody knows", checktest.Change(world(), groupIs("ACTIVE", "Gremlins")), []string{"fail workers [workers] [] nodegroup workers has an issue: gremlins"}},
		{"an issue without a code", checktest.Change(world(), groupIs("ACTIVE", "")), []string{"fail workers [workers] [] nodegroup workers has an issue: it has no code"}},
		{"unread", checktest.Change(world(), checktest.Unread(snapshot.Nodegroups)), []string{"unknown prod [] nodegroups: denied"}},
		{"not asked for", checktest.Change(world(), func(s *snapshot.Snapshot) { delete(s.Read, snapshot.Nodegroups) }), []string{"unknown prod [] nodegroups: not read: nobody asked for it"}},
	}
}

func TestNodegroupHealthWords(t *testing.T) {
	got := checktest.Failed(t, checkOf(checkid.NodegroupHealth), checktest.Change(snapshottest.PrivateWithNAT(), groupIs("DEGRADED", "Gremlins sg-1", "AccessDenied")))
	expect.Equal(t, "Why", got.Why, "EKS reports AccessDenied: the cluster's API rejects EKS or the nodes. It reports Gremlins too.")
	if v := checktest.Value(t, got, "Gremlins"); v != "about Gremlins (sg-1)" {
		t.Errorf("evidence %q", v)
	}
	got = checktest.Failed(t, checkOf(checkid.NodegroupHealth), checktest.Change(snapshottest.PrivateWithNAT(), groupIs("DEGRADED", "Gremlins")))
	expect.Equal(t, "Why", got.Why, `EKS reports Gremlins, a code that Rollcall does not know. Its message: "about Gremlins".`)
}

// Long names leave the noun out before anything is cut.
func TestLongNodegroupTitle(t *testing.T) {
	s := checktest.Change(snapshottest.PrivateWithNAT(), groupIs("DEGRADED", "Ec2LaunchTemplateVersionMaxLimitExceeded"))
	expect.Equal(t, "title", checktest.Failed(t, checkOf(checkid.NodegroupHealth), s).Title, "workers is degraded: EC2 launch template version max limit exceeded")
}

// A deleted subnet has one name: the failed launches have told it before EKS.
func TestIssueThatTheLaunchesName(t *testing.T) {
	s := checktest.Change(checktest.Attempted("The subnet ID 'subnet-0dead' does not exist Launching EC2 instance failed."), groupIs("CREATE_FAILED", "Ec2SubnetNotFound subnet-0dead"), before)
	if got := checktest.Failed(t, checkOf(checkid.NodegroupHealth), s); got.Confidence != check.Symptom {
		t.Errorf("named by the launches: %+v, want a symptom", got)
	}
	s = checktest.Change(checktest.Attempted("The subnet ID 'subnet-0dead' does not exist Launching EC2 instance failed."), groupIs("CREATE_FAILED", "Ec2SubnetNotFound subnet-0beef"), before)
	if got := checktest.Failed(t, checkOf(checkid.NodegroupHealth), s); got.Confidence == check.Symptom {
		t.Errorf("another subnet: %+v, want no symptom", got)
	}
}

// What closes an incident says that EKS does not agree.
func TestStickyStatusIsToldAsSuch(t *testing.T) {
	s := checktest.Change(snapshottest.PrivateWithNAT(), groupIs("DEGRADED", "AsgInstanceLaunchFailures"))
	for _, c := range []check.Check{checkOf(checkid.NodegroupHealth), checkOf(checkid.NodegroupStatus)} {
		got := checktest.EvalOne(t, c, s)[0]
		want := "EKS still reports DEGRADED; i-0node, started later (14:50:00 UTC), is a Ready node"
		if got.Outcome != check.Pass || len(got.Evidence) != 1 || checktest.Value(t, got, "workers") != want {
			t.Errorf("%s: %+v, want %q", c.ID, got, want)
		}
	}
}

// Every code: what a launch disproves passes with one, the rest never does;
// none is without a next step.
func TestEveryNodegroupCode(t *testing.T) {
	for _, code := range nodegroupCodes() {
		s := checktest.Change(snapshottest.PrivateWithNAT(), groupIs("DEGRADED", code))
		got := checktest.EvalOne(t, checkOf(checkid.NodegroupHealth), s)
		if want := nodegroup.OfIssue(code).Disproved; len(got) != 1 || (got[0].Outcome == check.Pass) != want {
			t.Errorf("%s: %q, disproved %t", code, checktest.Lines(got), want)
		}
		s = checktest.Change(checktest.Missed(), groupIs("DEGRADED", code), before)
		if f := checktest.Failed(t, checkOf(checkid.NodegroupHealth), s); !strings.HasSuffix(f.Title, ": "+check.Spoken(code)) || f.Fix.Text == "" || !strings.Contains(f.Fix.Command, "--region us-west-2") && !strings.HasPrefix(f.Fix.Command, "kubectl ") {
			t.Errorf("%s: %+v", code, f)
		}
	}
}

// An instance in a warm pool, or one that ended, is no Ready node and does not
// wait.
func TestWhoCounts(t *testing.T) {
	s := checktest.Change(snapshottest.PrivateWithNAT(), groupIs("DEGRADED", "InstanceLimitExceeded"), before)
	snapshottest.Launch(s, "i-0warm", snapshottest.Private, time.Minute)
	if got := checktest.EvalOne(t, checkOf(checkid.NodegroupHealth), s)[0]; got.Outcome != check.Fail {
		t.Errorf("with an instance that waits: %s", checktest.Lines([]check.Result{got}))
	}
	s.Groups[0].Warm = []string{"i-0warm"}
	if got := checktest.EvalOne(t, checkOf(checkid.NodegroupHealth), s)[0]; got.Outcome != check.Pass {
		t.Errorf("with an instance in the warm pool: %s", checktest.Lines([]check.Result{got}))
	}
	s.Groups[0].Warm = nil
	snapshottest.Instance(s, "i-0warm").State = "terminated"
	if got := checktest.EvalOne(t, checkOf(checkid.NodegroupHealth), s)[0]; got.Outcome != check.Pass || !slices.Contains(got.Covers, "workers") {
		t.Errorf("with an instance that ended: %s", checktest.Lines([]check.Result{got}))
	}
}

func nodegroupCodes() []string {
	var list []string
	for _, code := range types.NodegroupIssueCode("").Values() {
		list = append(list, string(code))
	}
	return list
}

// statusFor has the nodegroup in a status for so long, by what tells it.
func statusFor(status string, ago time.Duration, updates ...snapshot.Update) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		n := &s.Nodegroups[0]
		n.Status, n.Since, n.Updates = status, s.Time.Add(-ago), updates
		if status == "CREATING" {
			n.Created = n.Since
		}
	}
}

func inProgress(kind string, ago time.Duration) snapshot.Update {
	return snapshot.Update{ID: "u-1", Type: kind, Status: "InProgress", Created: snapshottest.Now().Add(-ago)}
}

func nodegroupStatusCases() []checktest.Case {
	world := snapshottest.PrivateWithNAT
	return []checktest.Case{
		{"active", world(), []string{"pass workers [workers]"}},
		{"being made", checktest.Change(world(), statusFor("CREATING", 39*time.Minute)), nil},
		{"being made for ever", checktest.Change(world(), statusFor("CREATING", 41*time.Minute)), []string{"fail workers [workers] [] nodegroup workers has been CREATING since 14:19:00 UTC"}},
		{"being deleted", checktest.Change(world(), statusFor("DELETING", 44*time.Minute)), nil},
		{"being deleted for ever", checktest.Change(world(), statusFor("DELETING", 46*time.Minute)), []string{"fail workers [workers] [] nodegroup workers has been DELETING since 14:14:00 UTC"}},
		{"being deleted, since when nobody knows", checktest.Change(world(), statusFor("DELETING", 0), func(s *snapshot.Snapshot) { s.Nodegroups[0].Since = time.Time{} }), nil},
		{"settings are set", checktest.Change(world(), statusFor("UPDATING", 3*time.Hour, inProgress("ConfigUpdate", 29*time.Minute))), nil},
		{"settings are set for ever", checktest.Change(world(), statusFor("UPDATING", time.Minute, inProgress("ConfigUpdate", 31*time.Minute))), []string{
			"fail workers [workers] [] nodegroup workers has been UPDATING since 14:29:00 UTC",
		}},
		{"the version rolls over three nodes", checktest.Change(world(), statusFor("UPDATING", 0, inProgress("VersionUpdate", 104*time.Minute))), nil},
		{"the version rolls for ever", checktest.Change(world(), statusFor("UPDATING", 0, inProgress("VersionUpdate", 106*time.Minute))), []string{
			"fail workers [workers] [] nodegroup workers has been UPDATING since 13:14:00 UTC",
		}},
		{"of an update nothing is known", checktest.Change(world(), statusFor("UPDATING", 106*time.Minute)), []string{"fail workers [workers] [] nodegroup workers has been UPDATING since 13:14:00 UTC"}},
		{"degraded without an issue", checktest.Change(world(), groupIs("DEGRADED"), before, wanted(3)), []string{"fail workers [workers] [] nodegroup workers is degraded"}},
		{"degraded without an issue, and a launch joined", checktest.Change(world(), groupIs("DEGRADED"), wanted(3)), []string{"pass workers [workers]"}},
		{"degraded without an issue, nodes unread", checktest.Change(world(), groupIs("DEGRADED"), checktest.Unread(snapshot.Nodes)), []string{"fail (likely) workers [workers] [] nodegroup workers is degraded"}},
		{"degraded for an issue", checktest.Change(world(), groupIs("DEGRADED", "AccessDenied")), []string{"fail workers [workers] [] nodegroup workers is degraded"}},
		{"degraded for an issue that is over", checktest.Change(world(), groupIs("DEGRADED", "InstanceLimitExceeded")), []string{"pass workers [workers]"}},
		{"failed for a symptom", checktest.Change(checktest.Missed(), groupIs("CREATE_FAILED", "NodeCreationFailure "+snapshottest.Node)), []string{
			"fail (symptom) workers [workers] [i-0node] nodegroup workers could not be created",
		}},
		{"failed, and its nodes joined later", checktest.Change(world(), groupIs("CREATE_FAILED")), []string{"pass workers [workers]"}},
		{"failed to be deleted, whatever its nodes do", checktest.Change(world(), groupIs("DELETE_FAILED")), []string{"fail workers [workers] [] nodegroup workers could not be deleted"}},
		{"a status that nobody knows", checktest.Change(world(), groupIs("PONDERING")), []string{`unknown workers [workers] nodegroups: broken: the status "PONDERING" of nodegroup workers is unknown to Rollcall`}},
		{"no status", checktest.Change(world(), groupIs("")), []string{`unknown workers [workers] nodegroups: broken: the status "" of nodegroup workers is unknown to Rollcall`}},
		{"unread", checktest.Change(world(), checktest.Unread(snapshot.Nodegroups)), []string{"unknown prod [] nodegroups: denied"}},
	}
}

func TestNodegroupStatusWords(t *testing.T) {
	got := checktest.Failed(t, checkOf(checkid.NodegroupStatus), checktest.Change(snapshottest.PrivateWithNAT(), statusFor("UPDATING", 0, inProgress("VersionUpdate", 2*time.Hour))))
	expect.Equal(t, "Why", got.Why, "Nodegroup workers has been UPDATING since 2026-11-20 13:00 UTC; that takes at most 105 min.")
	if !strings.Contains(got.Fix.Command, "--update-id u-1") {
		t.Errorf("command %q", got.Fix.Command)
	}
}

// updated gives the nodegroup updates, the newest first, ten minutes apart.
func updated(list ...snapshot.Update) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		for i := range list {
			if list[i].Created.IsZero() {
				list[i].Created = s.Time.Add(-time.Duration(i+1) * 10 * time.Minute)
			}
		}
		s.Nodegroups[0].Updates = list
	}
}

func updateThat(status string, codes ...string) snapshot.Update {
	u := snapshot.Update{ID: "u-1", Type: "VersionUpdate", Status: status, Params: []string{"ReleaseVersion=1.35.0-20261112"}}
	for _, code := range codes {
		u.Errors = append(u.Errors, snapshot.Issue{Code: code, Message: "about " + code, Resources: []string{snapshottest.Node}})
	}
	return u
}

func aged(u snapshot.Update, ago time.Duration) snapshot.Update {
	u.Created = snapshottest.Now().Add(-ago)
	return u
}

func nodegroupUpdateFailedCases() []checktest.Case {
	world := snapshottest.PrivateWithNAT
	const failure = "fail workers [workers] [] nodegroup workers failed to update: pod eviction failure"
	return []checktest.Case{
		{"no update", world(), []string{"pass workers [workers]"}},
		{"it succeeded", checktest.Change(world(), updated(updateThat("Successful"))), []string{"pass workers [workers]"}},
		{"it failed", checktest.Change(world(), updated(updateThat("Failed", "PodEvictionFailure"))), []string{failure}},
		{"it failed, and a later one succeeded", checktest.Change(world(), updated(updateThat("Successful"), updateThat("Failed", "PodEvictionFailure"))), []string{"pass workers [workers]"}},
		{"it failed, and a later one goes on", checktest.Change(world(), updated(updateThat("InProgress"), updateThat("Failed", "PodEvictionFailure"))), nil},
		{"it failed, and a later one was cancelled", checktest.Change(world(), updated(updateThat("Cancelled"), updateThat("Failed", "PodEvictionFailure"))), []string{failure}},
		{"it was cancelled", checktest.Change(world(), updated(updateThat("Cancelled"))), []string{"pass workers [workers]"}},
		{"it failed without an error", checktest.Change(world(), updated(updateThat("Failed"))), []string{"fail workers [workers] [] nodegroup workers failed to update"}},
		{"it failed with an error that nobody knows", checktest.Change(world(), updated(updateThat("Failed", "Gremlins"))), []string{"fail workers [workers] [] nodegroup workers failed to update: gremlins"}},
		{"its nodes did not join", checktest.Change(checktest.Missed(), updated(updateThat("Failed", "NodeCreationFailure"))), []string{
			"fail (symptom) workers [workers] [i-0node] nodegroup workers failed to update: node creation failure",
		}},
		{"it failed a week ago", checktest.Change(world(), updated(aged(updateThat("Failed", "PodEvictionFailure"), 7*24*time.Hour))), []string{failure}},
		{"it failed more than a week ago", checktest.Change(world(), updated(aged(updateThat("Failed", "PodEvictionFailure"), 7*24*time.Hour+1))), []string{"pass workers [workers]"}},
		{"a status that nobody knows", checktest.Change(world(), updated(updateThat("Pondering"))), []string{`unknown workers [workers] nodegroup updates: broken: the status "Pondering" of update u-1 is unknown to Rollcall`}},
		{"not asked for", checktest.Change(world(), func(s *snapshot.Snapshot) {
			s.Lack(snapshot.Updates, "workers", snapshot.Failure{Source: snapshot.Updates, Reason: snapshot.NotRead})
		}), nil},
		{"this one's could not be read", checktest.Change(world(), func(s *snapshot.Snapshot) {
			s.Lack(snapshot.Updates, "workers", snapshot.Failure{Source: snapshot.Updates, Reason: snapshot.Broken, Call: "eks:ListUpdates"})
		}), []string{"unknown workers [workers] nodegroup updates: broken"}},
		{"unread", checktest.Change(world(), checktest.Unread(snapshot.Updates)), []string{"unknown prod [] nodegroup updates: denied"}},
	}
}

func TestUpdateFailedWords(t *testing.T) {
	got := checktest.Failed(t, checkOf(checkid.NodegroupUpdateFailed), checktest.Change(snapshottest.PrivateWithNAT(), updated(updateThat("Failed", "IpNotAvailable", "AccessDenied"))))
	expect.Equal(t, "Why", got.Why, "The version update of workers that began at 2026-11-20 14:50 UTC failed. EKS reports IpNotAvailable: a subnet has no free address (i-0node). It reports AccessDenied too.")
	if v := checktest.Value(t, got, "It was to set"); v != "ReleaseVersion=1.35.0-20261112" {
		t.Errorf("evidence %q", v)
	}
}

func TestEveryUpdateCode(t *testing.T) {
	for _, code := range types.ErrorCode("").Values() {
		got := checktest.Failed(t, checkOf(checkid.NodegroupUpdateFailed), checktest.Change(snapshottest.PrivateWithNAT(), updated(updateThat("Failed", string(code)))))
		if got.Fix.Text == "" || got.Why == "" {
			t.Errorf("%s: %+v", code, got)
		}
	}
}
