package launch

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checks/check"
	"rollcall/shared/checks/checktest"
	"rollcall/shared/checks/finding"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

const blind = "You are not authorized to perform this operation. Encoded authorization failure message: "

// teamless is the denial of a launch without a tag that a statement asks for.
func teamless(change func(*snapshot.Denial)) *snapshot.Denial {
	d := &snapshot.Denial{
		Who: "arn:aws:sts::111122223333:assumed-role/launcher", Action: "ec2:RunInstances", Resource: "arn:aws:ec2:us-west-2:111122223333:instance/*", Explicit: true,
		Statements: []snapshot.DeniedStatement{{ID: "AskTeamId", Conditions: []snapshot.DeniedCondition{
			{Key: "aws:RequestTag/team-id", Names: []string{"true"}}, {Key: "ec2:InstanceType", Names: []string{"t3a.micro"}, Has: []string{"m5.large"}},
		}}},
	}
	change(d)
	return d
}

// encodedWorld is a group whose launches were denied with encoded messages, and what
// was decoded of them.
func encodedWorld(texts []string, messages ...snapshot.DecodedMessage) *snapshot.Snapshot {
	s := snapshottest.PrivateWithNAT()
	for n, text := range texts {
		checktest.Fails(s, text, time.Duration(5+n)*time.Minute)
	}
	s.Denials = messages
	s.Read[snapshot.DenialsOf] = true
	return s
}

// fails are the failures of a world's checks, by their id.
func fails(s *snapshot.Snapshot) map[string]finding.Result {
	found := map[string]finding.Result{}
	for _, r := range check.Eval([]check.Check{PolicyDenied(), Unauthorized()}, s) {
		if r.Outcome == finding.Fail {
			found[string(r.Check)] = r
		}
	}
	return found
}

func evidenceOf(r finding.Result, what string) (values []string) {
	for _, e := range r.Evidence {
		if e.What == what {
			values = append(values, e.Value)
		}
	}
	return values
}

func TestDecodedMessageNamesThePolicy(t *testing.T) {
	decoded := snapshot.DecodedMessage{Encoded: "new", Denial: teamless(func(*snapshot.Denial) {})}
	none := func(*snapshot.Denial) {}
	for name, tt := range map[string]struct {
		world *snapshot.Snapshot
		check string
		title string
		by    []string
		fix   string
	}{
		"a statement denies it": {encodedWorld([]string{blind + "new", blind + "old"}, decoded), "launch/policy-denied", "workers cannot launch: statement AskTeamId denies it",
			[]string{"an explicit deny; of which kind the policy is the message does not say"}, "Give what is launched the tag team-id"},
		"the sentence names the kind": {encodedWorld([]string{strings.ReplaceAll(denied("with an explicit deny in an identity-based policy: arn:aws:iam::111122223333:policy/Own"), "Launching EC2", "Encoded authorization failure message: new. Launching EC2")}, decoded),
			"launch/unauthorized", "workers cannot launch: statement AskTeamId denies it", []string{"an explicit deny in an identity-based policy, arn:aws:iam::111122223333:policy/Own"}, "Give what is launched the tag team-id"},
		"nothing allows it": {encodedWorld([]string{blind + "new"}, snapshot.DecodedMessage{Encoded: "new", Denial: teamless(func(d *snapshot.Denial) { d.Explicit, d.Statements = false, nil })}),
			"launch/unauthorized", "workers cannot launch: who launches lacks a permission", nil, "Decode the authorization message"},
		"no tag is asked for": {encodedWorld([]string{blind + "new"}, snapshot.DecodedMessage{Encoded: "new", Denial: teamless(func(d *snapshot.Denial) { d.Statements[0].Conditions = d.Statements[0].Conditions[1:] })}),
			"launch/policy-denied", "workers cannot launch: statement AskTeamId denies it", []string{"an explicit deny; of which kind the policy is the message does not say"}, "Allow this launch in the policy"},
		"a statement without a Sid": {encodedWorld([]string{blind + "new"}, snapshot.DecodedMessage{Encoded: "new", Denial: teamless(func(d *snapshot.Denial) { d.Statements[0].ID = "" })}),
			"launch/policy-denied", "workers cannot launch: a policy denies it explicitly", []string{"an explicit deny; of which kind the policy is the message does not say"}, "Give what is launched the tag team-id"},
		"another group's message": {encodedWorld([]string{blind + "new"}, snapshot.DecodedMessage{Encoded: "other", Denial: teamless(none)}),
			"launch/unauthorized", "workers cannot launch: who launches lacks a permission", nil, "Decode the authorization message"},
	} {
		found := fails(tt.world)
		r, is := found[tt.check]
		if !is || len(found) != 1 {
			t.Errorf("%s: found %v, want %s alone", name, found, tt.check)
			continue
		}
		if r.Title != tt.title || !strings.HasPrefix(r.Fix.Text, tt.fix) {
			t.Errorf("%s: %q, %q; want %q, %q", name, r.Title, r.Fix.Text, tt.title, tt.fix)
		}
		if diff := cmp.Diff(tt.by, evidenceOf(r, "By")); diff != "" {
			t.Errorf("%s: by (-want +got):\n%s", name, diff)
		}
	}
	r := fails(encodedWorld([]string{blind + "new", blind + "old"}, decoded))["launch/policy-denied"]
	for what, want := range map[string]string{
		"Denied":              "ec2:RunInstances on arn:aws:ec2:us-west-2:111122223333:instance/*, asked by arn:aws:sts::111122223333:assumed-role/launcher",
		"Statement AskTeamId": "aws:RequestTag/team-id names true, the request has none; ec2:InstanceType names t3a.micro, the request has m5.large",
	} {
		if diff := cmp.Diff([]string{want}, evidenceOf(r, what)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
}

// TestEachDenialIsItsOwn: two launches of one group that two policies denied are told by
// each one's own statement.
func TestEachDenialIsItsOwn(t *testing.T) {
	other := func(d *snapshot.Denial) { d.Statements = []snapshot.DeniedStatement{{ID: "NoGPUs"}} }
	first, second := snapshot.DecodedMessage{Encoded: "new", Denial: teamless(func(*snapshot.Denial) {})}, snapshot.DecodedMessage{Encoded: "old", Denial: teamless(other)}
	r := fails(encodedWorld([]string{blind + "new", blind + "old"}, first, second))["launch/policy-denied"]
	for what, want := range map[string][]string{
		"Statement AskTeamId": {"aws:RequestTag/team-id names true, the request has none; ec2:InstanceType names t3a.micro, the request has m5.large"},
		"Statement NoGPUs":    {"denies it without a condition"},
	} {
		if diff := cmp.Diff(want, evidenceOf(r, what)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	if want := "workers cannot launch: who launches lacks a permission, or a policy forbids it"; strings.Contains(r.Title, "statement") {
		t.Errorf("the title is %q, want one that names no statement for both: %q", r.Title, want)
	}
	// One that its role may not, and one that a policy above it denies, are two causes.
	mine := func(d *snapshot.Denial) { d.Explicit, d.Statements = false, nil }
	found := fails(encodedWorld([]string{blind + "new", blind + "old"}, first, snapshot.DecodedMessage{Encoded: "old", Denial: teamless(mine)}))
	for check, statements := range map[string]int{"launch/policy-denied": 1, "launch/unauthorized": 0} {
		if r, is := found[check]; !is || len(evidenceOf(r, "Statement AskTeamId")) != statements {
			t.Errorf("%s: found %v, %+v", check, is, r.Evidence)
		}
	}
	// What nobody decoded goes with what was, unless its own sentence says otherwise.
	sentence := func(kind, message string) string {
		return strings.ReplaceAll(denied("with an explicit deny in "+kind), "Launching EC2", "Encoded authorization failure message: "+message+". Launching EC2")
	}
	const scp, own = "a service control policy", "an identity-based policy"
	for name, tt := range map[string]struct {
		texts []string
		want  map[string]string
	}{
		"the same sentence":  {[]string{sentence(scp, "new"), sentence(scp, "old")}, map[string]string{"launch/policy-denied": "workers cannot launch: statement AskTeamId denies it"}},
		"another sentence":   {[]string{sentence(scp, "new"), sentence(own, "old")}, map[string]string{"launch/policy-denied": "workers cannot launch: statement AskTeamId denies it", "launch/unauthorized": "workers cannot launch: an identity-based policy denies it"}},
		"no sentence at all": {[]string{blind + "new", blind + "old", blind + "older"}, map[string]string{"launch/policy-denied": "workers cannot launch: statement AskTeamId denies it"}},
	} {
		titles := map[string]string{}
		for check, r := range fails(encodedWorld(tt.texts, first)) {
			titles[check] = r.Title
		}
		if diff := cmp.Diff(tt.want, titles); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestUndecodedMessageSaysWhy: what was not decoded is said, with the permission.
func TestUndecodedMessageSaysWhy(t *testing.T) {
	failed := func(f snapshot.Failure) snapshot.DecodedMessage {
		f.Source, f.Call = snapshot.DenialsOf, "sts:DecodeAuthorizationMessage"
		return snapshot.DecodedMessage{Encoded: "new", Failure: &f}
	}
	for name, tt := range map[string]struct {
		world *snapshot.Snapshot
		want  []string
	}{
		"the setting is off": {checktest.Change(encodedWorld([]string{blind + "new"}), func(s *snapshot.Snapshot) { delete(s.Read, snapshot.DenialsOf) }),
			[]string{"not decoded: Rollcall may not: it takes sts:DecodeAuthorizationMessage, which the setting decodeDenied=on grants"}},
		"it was cut":            {encodedWorld([]string{blind + "new..."}), []string{"not decoded: only a part of it was kept, which cannot be decoded"}},
		"not valid":             {encodedWorld([]string{blind + "new"}, failed(snapshot.Failure{Reason: snapshot.Broken, Code: "InvalidAuthorizationMessageException"})), []string{"not decoded: STS does not take it: it has expired, is another account's, or is only a part"}},
		"denied":                {encodedWorld([]string{blind + "new"}, failed(snapshot.Failure{Reason: snapshot.Denied, Code: "AccessDenied"})), []string{"not decoded: sts:DecodeAuthorizationMessage: denied, AccessDenied"}},
		"no answer":             {encodedWorld([]string{blind + "new"}, failed(snapshot.Failure{Reason: snapshot.TimedOut})), []string{"not decoded: sts:DecodeAuthorizationMessage: timed out"}},
		"others came first":     {encodedWorld([]string{blind + "new"}), []string{"not decoded: others were decoded first"}},
		"there is no message":   {encodedWorld([]string{"You are not authorized to perform this operation."}), nil},
		"one of two is decoded": {encodedWorld([]string{blind + "new", blind + "old"}, snapshot.DecodedMessage{Encoded: "new", Denial: teamless(func(d *snapshot.Denial) { d.Explicit, d.Statements = false, nil })}), nil},
	} {
		r, is := fails(tt.world)["launch/unauthorized"]
		if diff := cmp.Diff(tt.want, evidenceOf(r, "Encoded message")); diff != "" || !is {
			t.Errorf("%s (found %v, -want +got):\n%s", name, is, diff)
		}
	}
}

// TestRefusedCallWasDenied: a run of calls has what its first call was told.
func TestRefusedCallWasDenied(t *testing.T) {
	run := func(change func(*snapshot.RefusedLaunch)) *snapshot.Snapshot {
		s := snapshottest.PrivateWithNAT()
		r := snapshot.RefusedLaunch{Launcher: snapshot.PoolKey("gpu"), Class: "launch/unauthorized", Call: "CreateFleet", Text: "UnauthorizedOperation: You are not authorized to perform this operation.", First: s.Time.Add(-10 * time.Minute), Last: s.Time}
		change(&r)
		s.Refused = []snapshot.RefusedLaunch{r}
		s.Read[snapshot.RefusedLaunches] = true
		return s
	}
	denied := fails(run(func(r *snapshot.RefusedLaunch) { r.Denial = teamless(func(*snapshot.Denial) {}) }))
	if r, is := denied["launch/policy-denied"]; !is || len(denied) != 1 || r.Title != "NodePool gpu cannot launch: statement AskTeamId denies it" || !strings.Contains(r.Fix.Text, "spec.tags of the NodePool's class") {
		t.Errorf("found %+v", denied)
	}
	undecoded := fails(run(func(r *snapshot.RefusedLaunch) { r.Undecoded = "no" }))
	if got := evidenceOf(undecoded["launch/unauthorized"], "Encoded message"); !cmp.Equal(got, []string{"not decoded: no"}) {
		t.Errorf("evidence %q of %+v", got, undecoded)
	}
}
