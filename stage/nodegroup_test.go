package stage

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	joincheck "rollcall/functions/join-check/spec"
	nodegroupwatch "rollcall/functions/nodegroup-watch/spec"
	spotreport "rollcall/functions/spot-report/spec"
	subnetwatch "rollcall/functions/subnet-watch/spec"
	sweep "rollcall/functions/sweep/spec"
	zonewatch "rollcall/functions/zone-watch/spec"
	"rollcall/infra/deadletters"
	"rollcall/infra/specs"
	"rollcall/shared/checkid"
	"rollcall/shared/config"
	"rollcall/shared/event"
	"rollcall/shared/event/inbox"
	"rollcall/shared/incident"
	"rollcall/shared/network/leak"
	"rollcall/shared/nodegroup"
	"rollcall/shared/remedy"
	"rollcall/shared/report"
	"rollcall/shared/spec"
	"rollcall/shared/spoke"
	"rollcall/stage/fakeslack"
	"rollcall/stage/platform/queue"
	"rollcall/stage/platform/router"
	"rollcall/stage/platform/template"
	"rollcall/stage/platform/wire"
	"rollcall/tools/goldens"
	"rollcall/tools/messagecheck"
	"rollcall/tools/testfull"
)

// story is what a world must tell.
type story struct {
	world string
	// ends are all incidents in the end: "check resource: ending".
	ends []string
	// says are texts of which each message says one in its first line, at some time, and no two the same.
	says []string
	// told are the changes of status that last long enough to be seen, by
	// nodegroup: "DEGRADED NodeCreationFailure". Others, of less than a few
	// minutes, may be told between them.
	told map[string][]string
}

func stories() []story {
	const subnet = "subnet-0c30000000000000d has no route to the internet"
	return []story{
		{
			world: "nodegroup-degraded",
			says:  []string{subnet},
			ends:  []string{"route/no-egress rtb-0cd20000000000002: proved"},
			told:  map[string][]string{"new_nodegroup_2": {"DEGRADED NodeCreationFailure", "ACTIVE"}},
		},
		{
			world: "nodegroup-create-failed",
			says:  []string{subnet, "subnet-0c30000000000000e does not exist", "KMS key cannot be used"},
			ends: []string{
				"launch/kms-key eks-encrypted: withdrawn",
				"launch/template subnet-0c30000000000000e: withdrawn",
				"route/no-egress rtb-0cd20000000000002: proved",
			},
			told: map[string][]string{
				"routeless":   {"CREATE_FAILED NodeCreationFailure", "DELETED", "ACTIVE"},
				"lost-subnet": {"CREATE_FAILED Ec2SubnetNotFound", "DELETED"},
				"encrypted":   {"CREATE_FAILED AsgInstanceLaunchFailures NodeCreationFailure", "DELETED"},
			},
		},
		{
			world: "nodegroup-unknown-code",
			says:  []string{"EC2 placement group not found"},
			ends:  []string{"nodegroup/health new_nodegroup_2: proved"},
			told:  map[string][]string{"new_nodegroup_2": {"DEGRADED Ec2PlacementGroupNotFound", "ACTIVE"}},
		},
		{
			world: "nodegroup-update-failed",
			says:  []string{subnet, "pod eviction failure"},
			ends:  []string{"nodegroup/update-failed default: proved", "route/no-egress rtb-0cd20000000000002: proved"},
			told:  map[string][]string{"new_nodegroup_2": {"UPDATING", "ACTIVE"}, "default": {"ACTIVE"}},
		},
		{
			world: "addon-degraded",
			says:  []string{"add-on vpc-cni is degraded: access denied"},
			ends:  []string{"addon/degraded vpc-cni: proved"},
		},
	}
}

// TestNodegroupStories plays each world to its end.
func TestNodegroupStories(t *testing.T) {
	for n, s := range stories() {
		if n%testfull.Count(1, 2) != 0 { // every second has each kind of end
			continue
		}
		t.Run(s.world, inTime(func(t *testing.T) {
			s.play(t)
		}))
	}
}

// TestNodegroupStoriesWithBadEvents plays them with CloudTrail's events
// doubled, lost and overtaken: nothing else is said.
func TestNodegroupStoriesWithBadEvents(t *testing.T) {
	// Two stories have each of the faults more than once.
	for _, s := range stories()[4-testfull.Count(4, 2) : 4] {
		t.Run(s.world, inTime(func(t *testing.T) {
			n := 0
			s.play(t, func(o *Options) {
				o.EventFaults = func(e router.Event) router.Fault {
					if e.DetailType != "AWS API Call via CloudTrail" {
						return router.Fault{}
					}
					n++
					return []router.Fault{{Copies: 2}, {Reorder: true}, {Lose: true}, {Copies: 1, Reorder: true}}[n%4]
				}
			})
		}))
	}
}

func (s story) play(t *testing.T, change ...func(*Options)) {
	t.Helper()
	r := start(t, s.world, change...)
	defer func() {
		if t.Failed() {
			t.Logf("incidents:\n%s", strings.Join(r.endings(), "\n"))
			for name := range s.told {
				t.Logf("told of %s: %q", name, r.statuses(name))
			}
			for _, m := range r.messages() {
				t.Logf("message: %s", strings.Join(firstLines(m), "\n  then: "))
			}
		}
	}()
	r.until("all incidents are there and closed", func() bool { return slices.Equal(r.endings(), s.ends) })
	r.until("all is told", func() bool {
		for name, want := range s.told {
			if !inOrder(r.statuses(name), want) {
				return false
			}
		}
		return true
	})
	r.until("all is resolved in Slack", func() bool {
		return !slices.ContainsFunc(r.messages(), func(m fakeslack.Message) bool { return resolutions(m) == 0 })
	})
	r.nothingLost()
	m := r.messages()
	if len(m) != len(s.says) {
		t.Errorf("%d messages, want %d", len(m), len(s.says))
	}
	for _, text := range s.says {
		with := 0
		for _, m := range m {
			if strings.Contains(strings.Join(firstLines(m), "\n"), text) {
				with++
			}
		}
		if with != 1 {
			t.Errorf("%d messages say %q, want one", with, text)
		}
	}
	for _, m := range m {
		if n := resolutions(m); n != 1 {
			t.Errorf("resolved %d times in the thread of %q", n, m.Text)
		}
	}
	r.followsTheSchema()
}

// firstLines are a message's first line as it was and as it is.
func firstLines(m fakeslack.Message) []string {
	var list []string
	for _, v := range m.Versions {
		list = append(list, v.Text)
	}
	return append(list, m.Text)
}

// resolutions counts how often a thread says that it is over.
func resolutions(m fakeslack.Message) (n int) {
	for _, reply := range m.Replies {
		if strings.Contains(reply.Text, "Resolved after") || strings.HasPrefix(reply.Text, "Closed:") {
			n++
		}
	}
	return n
}

// endings are how the incidents stand, without the made-up part of names.
func (r *running) endings() []string {
	uuid := regexp.MustCompile(`-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	var list []string
	for _, i := range r.incidents() {
		if i.Number == 0 {
			continue // never said: it passed by itself
		}
		resource := uuid.ReplaceAllString(i.Key.Resource, "")
		how := string(i.Resolution)
		if i.State != incident.Closed {
			how = string(i.State)
		}
		if i.Number > 1 {
			how += fmt.Sprintf(", for the %d. time", i.Number)
		}
		list = append(list, fmt.Sprintf("%s %s: %s", i.Key.Check, resource, how))
	}
	slices.Sort(list)
	return list
}

// nodegroupEvents are the changes on the Rollcall bus so far.
func (r *running) nodegroupEvents() (list []nodegroup.Event, raw []json.RawMessage) {
	r.t.Helper()
	for _, p := range r.Events() {
		var e struct {
			DetailType string          `json:"detail-type"`
			Detail     nodegroup.Event `json:"detail"`
		}
		if p.Bus == "default" {
			continue
		}
		if err := json.Unmarshal(p.Event, &e); err != nil {
			r.t.Fatal(err)
		}
		if e.DetailType == nodegroup.DetailType {
			list, raw = append(list, e.Detail), append(raw, p.Event)
		}
	}
	return list, raw
}

// statuses are the changes of a nodegroup's status and issues, in order.
func (r *running) statuses(name string) []string {
	list, _ := r.nodegroupEvents()
	var out []string
	for _, e := range list {
		if e.Nodegroup != name || e.Reason == nodegroup.UpdateChanged {
			continue
		}
		words := []string{e.Status}
		for _, i := range e.Issues {
			words = append(words, i.Code)
		}
		slices.Sort(words[1:])
		out = append(out, strings.Join(words, " "))
	}
	return out
}

// inOrder reports whether all of want is among got, in this order.
func inOrder(got, want []string) bool {
	for _, w := range want {
		at := slices.Index(got, w)
		if at < 0 {
			return false
		}
		got = got[at+1:]
	}
	return true
}

// followsTheSchema holds that each event is as it is documented, and that each
// transition was told once and in order.
func (r *running) followsTheSchema() {
	r.t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	schema, err := c.Compile("../events/schema/eks-nodegroup-status-change.json")
	if err != nil {
		r.t.Fatal(err)
	}
	list, raw := r.nodegroupEvents()
	seen, last := map[string]bool{}, map[string]int{}
	status := map[string]string{}
	updates := map[string]bool{}
	for i, e := range list {
		parsed, err := jsonschema.UnmarshalJSON(strings.NewReader(string(raw[i])))
		if err == nil {
			err = schema.Validate(parsed)
		}
		if err != nil {
			r.t.Errorf("%s: %v", e.ID, err)
		}
		if seen[e.ID] {
			continue // delivered again under its id, as the contract allows
		}
		seen[e.ID] = true
		if want := last[e.Nodegroup] + 1; e.Sequence != want {
			r.t.Errorf("%s has sequence %d, want %d", e.ID, e.Sequence, want)
		}
		last[e.Nodegroup] = e.Sequence
		if e.Update != nil {
			if key := e.Nodegroup + e.Update.ID + e.Update.Status; updates[key] {
				r.t.Errorf("%s tells twice of update %s %s", e.ID, e.Update.ID, e.Update.Status)
			} else {
				updates[key] = true
			}
			continue
		}
		state := fmt.Sprint(e.Status, codes(e))
		if state == status[e.Nodegroup] || status[e.Nodegroup] != "" && e.Previous == "" {
			r.t.Errorf("%s: %s → %s %q after %q", e.ID, e.Previous, e.Status, codes(e), status[e.Nodegroup])
		}
		status[e.Nodegroup] = state
	}
}

func codes(e nodegroup.Event) []string {
	var list []string
	for _, i := range e.Issues {
		list = append(list, fmt.Sprint(i.Code, i.Resources))
	}
	return list
}

var (
	updateMessages = flag.Bool("update", false, "write the golden messages anew")
	keptMessages   = goldens.New("testdata/messages", "stage", updateMessages)
)

// messageWorlds are worlds of the corpus whose messages are kept as they come into
// the channel from the whole machinery: the words are the check's own, where the
// scenes of shared/slack are written by hand. No world is here whose cause two
// functions see at the same moment: what else was looked up hangs on who was first.
var messageWorlds = []string{
	"karpenter-nodeclass-not-ready", "karpenter-nodeclass-not-ready-auto-mode", "karpenter-nodepool-limit", "node-not-initialized",
	"launch-policy-denied", "sg-efa-self-rule",
}

// messageFleets are samples of fleets that EC2 refuses, a call every two minutes, whose
// messages are kept in the same way.
var messageFleets = map[string]string{
	"fleet-refused":     "ec2-call-create-fleet-refused.json",
	"fleet-no-capacity": "ec2-call-create-fleet-no-capacity.json",
}

// TestMessages holds what is said of a world: how it reads, and the blocks as they were
// sent. go run ./stage/fakeslack/try FILE… shows them.
func TestMessages(t *testing.T) {
	names := slices.Clone(karpenterMessages[:]) // TestKarpenterStory
	for _, name := range messageWorlds {
		names = append(names, name)
		t.Run(name, inTime(func(t *testing.T) {
			r := start(t, "corpus/"+name, func(o *Options) { o.Rights = "../deploy/clusterrole.yaml" })
			r.until("a message", func() bool { return len(r.messages()) > 0 })
			// The look into CloudTrail answers in between; it is asked again a quarter of an hour later.
			r.pass(3 * time.Minute)
			messages := r.messages()
			if len(messages) != 1 {
				t.Fatalf("%d messages, want one", len(messages))
			}
			keepMessage(t, name, messages[0])
		}))
	}
	for name, sample := range messageFleets {
		names = append(names, name)
		t.Run(name, inTime(func(t *testing.T) {
			text, err := os.ReadFile("../events/in/" + sample)
			if err != nil {
				t.Fatal(err)
			}
			r := start(t, "healthy-nat", func(o *Options) { o.Rights = "../deploy/clusterrole.yaml" })
			for range 10 {
				r.put(json.RawMessage(strings.ReplaceAll(string(text), "2026-11-20T14:58:40Z", r.Clock.Now().UTC().Format(time.RFC3339))))
				r.pass(2 * time.Minute)
			}
			messages := r.messages()
			if len(messages) != 1 {
				t.Fatalf("%d messages, want one", len(messages))
			}
			keepMessage(t, name, messages[0])
		}))
	}
	keptMessages.Only(t, names...)
}

// keepMessage holds a message against its golden files, and its numbers against each other.
func keepMessage(t *testing.T, name string, m fakeslack.Message) {
	t.Helper()
	keptMessages.Sent(t, name, sent(t, m))
	keptMessages.Text(t, name, []byte(aloud(t, m)))
	for n, each := range append([]fakeslack.Message{m}, m.Replies...) {
		if len(each.Blocks) == 0 || len(each.Files) > 0 {
			continue
		}
		found, err := messagecheck.Contradictions(each.Blocks, n > 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, says := range found {
			t.Errorf("%s, message %d: %s", name, n, says)
		}
	}
}

// sent is a message and its replies as they were posted, in the form of the golden
// files of shared/slack.
func sent(t *testing.T, m fakeslack.Message) []byte {
	t.Helper()
	type one struct {
		Text   string          `json:"text"`
		Blocks json.RawMessage `json:"blocks,omitempty"`
	}
	list := []one{{m.Text, m.Blocks}}
	for _, reply := range m.Replies {
		if len(reply.Files) == 0 { // a picture is no text
			list = append(list, one{reply.Text, reply.Blocks})
		}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(list); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// part is a block of Slack's, or an element of one, as far as it is read aloud.
type part struct {
	Type     string
	Text     json.RawMessage // a string, or an object with one
	Elements []part
	UserID   string `json:"user_id"`
	Format   string
	Stamp    int64 `json:"timestamp"`
}

// aloud is how a message reads in UTC.
func aloud(t *testing.T, m fakeslack.Message) string {
	t.Helper()
	var b strings.Builder
	for n, each := range append([]fakeslack.Message{m}, m.Replies...) {
		if n > 0 {
			fmt.Fprintf(&b, "\n--- reply %d\n", n)
		}
		var blocks []part
		if len(each.Files) > 0 {
			fmt.Fprintf(&b, "(picture: %s)\n", each.Files[0].AltText)
		}
		if len(each.Blocks) == 0 {
			continue
		}
		if err := json.Unmarshal(each.Blocks, &blocks); err != nil {
			t.Fatal(err)
		}
		for _, block := range blocks {
			b.WriteString(block.aloud())
		}
	}
	return b.String()
}

func (p part) aloud() string {
	var inner strings.Builder
	for _, e := range p.Elements {
		inner.WriteString(e.aloud())
	}
	switch p.Type {
	case "rich_text_section":
		return inner.String() + "\n"
	case "rich_text_list":
		return "  • " + strings.ReplaceAll(strings.TrimSuffix(inner.String(), "\n"), "\n", "\n  • ") + "\n"
	case "rich_text_preformatted":
		return "    " + strings.ReplaceAll(inner.String(), "\n", "\n    ") + "\n"
	case "actions":
		return strings.TrimSpace(inner.String()) + "\n"
	case "button":
		return "[" + p.text() + "] "
	case "user":
		return "@" + p.UserID
	case "date":
		at := time.Unix(p.Stamp, 0).UTC()
		return strings.NewReplacer("{time}", at.Format("15:04"), "{date_short_pretty}", at.Format("Jan 2")).Replace(p.Format)
	}
	return inner.String() + p.text()
}

// text is the part's own, be it a string or an object of Slack's.
func (p part) text() string {
	var object struct{ Text string }
	var text string
	if len(p.Text) == 0 {
		return ""
	}
	if json.Unmarshal(p.Text, &text) == nil {
		return text
	}
	_ = json.Unmarshal(p.Text, &object) // else it says nothing
	return object.Text
}

// TestWhoMayKeepEvidence: a detector makes encrypted objects where there is none, in its
// own bucket and by TLS; all else is refused.
func TestWhoMayKeepEvidence(t *testing.T) {
	source, err := os.ReadFile("../infra/Rollcall.template.json")
	if err != nil {
		t.Fatal(err)
	}
	tpl, err := template.Parse(source, template.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(tpl.S3Buckets) != 1 || !tpl.S3Buckets[0].Private || tpl.S3Buckets[0].ExpireDays != 30 || tpl.S3Buckets[0].Encryption != "AES256" {
		t.Fatalf("buckets %+v", tpl.S3Buckets)
	}
	own := tpl.S3Buckets[0].Name
	things := things{account: tpl.AccountID, region: tpl.Region, buckets: tpl.S3Buckets}
	create := http.Header{"If-None-Match": {"*"}, "X-Amz-Server-Side-Encryption": {"AES256"}}
	without := func(name string) http.Header {
		h := maps.Clone(create)
		delete(h, name)
		return h
	}
	for name, test := range map[string]struct {
		function, action, bucket string
		header                   http.Header
		plain                    bool
		want                     bool
	}{
		"a detector":     {"rollcall-join-check", "s3:PutObject", own, create, false, true},
		"report":         {"rollcall-report", "s3:PutObject", own, create, false, false},
		"another bucket": {"rollcall-join-check", "s3:PutObject", "other", create, false, false},
		"over another":   {"rollcall-join-check", "s3:PutObject", own, without("If-None-Match"), false, false},
		"not encrypted":  {"rollcall-join-check", "s3:PutObject", own, without("X-Amz-Server-Side-Encryption"), false, false},
		"by other keys":  {"rollcall-join-check", "s3:PutObject", own, http.Header{"If-None-Match": {"*"}, "X-Amz-Server-Side-Encryption": {"aws:kms"}}, false, false},
		"without TLS":    {"rollcall-join-check", "s3:PutObject", own, create, true, false},
		"what is there":  {"rollcall-join-check", "s3:GetObject", own, nil, false, false},
		"to delete":      {"rollcall-join-check", "s3:DeleteObject", own, nil, false, false},
	} {
		arn, keys, ok := things.object(wire.Object{Method: "PUT", Bucket: test.bucket, Key: "k", Header: test.header})
		if !ok {
			t.Fatal("an object is no resource")
		}
		if test.plain {
			keys["aws:SecureTransport"] = []string{"false"}
		}
		got, err := template.Allows(slices.Concat(tpl.Policy(test.function), things.bucketPolicy(test.bucket)), test.action, arn, keys)
		if err != nil || got != test.want {
			t.Errorf("%s: %t (%v), want %t", name, got, err, test.want)
		}
	}
}

// TestCalledIsGranted holds that least privilege is true in both directions:
// the functions make every call that the committed template lets them
// make, and no other.
func TestCalledIsGranted(t *testing.T) { virtual(t, calledIsGranted) }

func calledIsGranted(t *testing.T) {
	r := start(t, "../testdata/everything", func(o *Options) {
		o.Quiet, o.Rights = true, "../deploy/clusterrole.yaml"
		o.Settings = map[string]string{"ROLLCALL_CLEANUP": "eks-workshop=delete"}
	})
	r.playAll()
	called := map[string]map[string]bool{}
	cluster := map[string][]string{}
	for _, c := range r.Cloud.Calls() {
		// Two functions look at the same in the same hour, and keep one object of it.
		if kept := c.Action() == "s3:PutObject" && c.Code == "PreconditionFailed"; c.Code != "" && !kept {
			t.Errorf("%s called %s: %s; the calls of this test are all to succeed", c.Caller, c.Action(), c.Code)
		}
		if c.Service == "kubernetes" {
			cluster[c.Caller] = append(cluster[c.Caller], c.Operation)
			continue
		}
		if called[c.Caller] == nil {
			called[c.Caller] = map[string]bool{}
		}
		action := c.Action()
		if action == "sqs:SendMessageBatch" {
			action = "sqs:SendMessage" // the permission of both
		}
		called[c.Caller][action] = true
	}
	for _, f := range r.Template.Functions {
		if Folder(f) == "remediate" {
			continue // what it may do hangs on settings: its own test holds calls and grants
		}
		may := granted(r.Policy(f.Name))
		if Folder(f) == "report" {
			// It asks itself to go on only where its time ends: see TestTurns of functions/report.
			may = slices.DeleteFunc(may, func(a string) bool { return a == "sqs:SendMessage" })
		}
		if Folder(f) != "join-check" && !called[f.Name]["s3:PutObject"] {
			// Those that find nothing here keep evidence of nothing; that each detector keeps
			// it of what it finds is held by TestSameVerdict and TestAtLaunch of command/replay.
			may = slices.DeleteFunc(may, func(a string) bool { return a == "s3:PutObject" })
		}
		if diff := cmp.Diff(may, slices.Sorted(maps.Keys(called[f.Name]))); diff != "" {
			t.Errorf("%s: calls (-granted +called):\n%s", f.Name, diff)
		}
		var want []string
		for _, spec := range []spec.Spec{joincheck.Spec(), nodegroupwatch.Spec(), spotreport.Spec(), subnetwatch.Spec(), sweep.Spec(), zonewatch.Spec()} {
			if Folder(f) != spec.Name {
				continue
			}
			for _, rule := range spec.Kube {
				for _, verb := range rule.Verbs {
					for _, resource := range rule.Resources {
						want = append(want, verb+" "+resource)
					}
				}
			}
		}
		// Pods are listed in kube-system and, where they wait, everywhere: what was
		// called tells no namespace.
		slices.Sort(want)
		want = slices.Compact(want)
		slices.Sort(cluster[f.Name])
		if diff := cmp.Diff(want, slices.Compact(cluster[f.Name])); diff != "" {
			t.Errorf("%s: calls to Kubernetes (-granted +called):\n%s", f.Name, diff)
		}
	}
}

// granted are the actions that a function's own code may take. Left out are
// the statements by which Lambda itself acts in the function's name: it writes
// the log, takes messages from the queue, and puts an event that failed into
// the dead-letter queue.
func granted(policy []template.Statement) []string {
	var list []string
	for _, s := range policy {
		if s.Effect != "Allow" || slices.Contains([]string{"WriteLogs", "TakeMessages", "KeepFailures"}, s.SID) {
			continue
		}
		list = append(list, s.Actions...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// playAll wakes each function with what makes it use all of its code: a
// launch, a warm pool, a launch that waits, one that missed the roll, a sweep,
// a nodegroup that is degraded, and an incident that is opened.
func (r *running) playAll() {
	r.t.Helper()
	r.call("autoscaling:PutWarmPool", `{"AutoScalingGroupName":"eks-new_nodegroup_2-e2ca4e02-248f-cb7e-45a7-6fa9b0230007","MinSize":1}`)
	r.call("eks:UpdateNodegroupConfig", `{"clusterName":"eks-workshop","nodegroupName":"new_nodegroup_2","scalingConfig":{"minSize":0,"maxSize":1,"desiredSize":1}}`)
	r.until("the launch", func() bool { return len(r.launches()) > 0 })
	// The queue has no reader here, so what one function sends is handed to
	// the next by hand.
	r.invoke("nodegroup-watch", r.direct())
	r.invoke("launch-watch", r.batch("", r.launches()...))
	r.invoke("report", r.results()...)
	r.invoke("join-check", r.batch("", r.launches()...), r.direct())
	r.invoke("report", r.results()...)
	// launch-watch misses the second launch: join-check records it.
	r.call("eks:UpdateNodegroupConfig", `{"clusterName":"eks-workshop","nodegroupName":"new_nodegroup_2","scalingConfig":{"minSize":0,"maxSize":2,"desiredSize":2}}`)
	before := len(r.launches())
	r.until("the second launch", func() bool { return len(r.launches()) > before })
	r.invoke("join-check", r.batch("", r.launches()[before:]...))
	r.invoke("spot-report", r.sweep())
	r.invoke("subnet-watch", r.direct())
	r.invoke("zone-watch", r.direct())
	r.invoke("sweep", r.sweep(), r.turn())
	// What one run has seen another one deletes.
	r.invoke("eni-cleanup", r.sweep())
	r.pass(leak.Apart + time.Minute)
	r.invoke("eni-cleanup", r.sweep())
	// The history of what is open, and report telling the rest of what it knows.
	inc := r.incidents()[0]
	r.invoke("change-check", r.batch("", fmt.Sprintf(`{"version":"0","id":"opened","detail-type":"Rollcall Incident Opened","source":"rollcall","account":%q,"time":%q,"region":%q,"resources":[],"detail":{"cluster":%q,"check":%q,"resource":%q}}`,
		r.Template.AccountID, r.Clock.Now().UTC().Format(time.RFC3339), r.Template.Region, inc.Key.Cluster, inc.Key.Check, inc.Key.Resource)))
	// A press that is passed on, and one that is refused.
	for _, press := range []struct {
		secret string
		status int
	}{{SigningSecret, 200}, {"another-secret-0123456789", 401}} {
		if status, text := r.attempt(forgedPress{body: form("acknowledge", someValue(r.t, ""), ""), secret: press.secret}); status != press.status {
			r.t.Errorf("a press is answered %d %q, want %d", status, text, press.status)
		}
	}
}

func (r *running) call(op, input string) {
	r.t.Helper()
	if _, err := r.World.Call(op, json.RawMessage(input)); err != nil {
		r.t.Fatal(err)
	}
}

// launches are the events of launches so far.
func (r *running) launches() []string {
	r.t.Helper()
	var list []string
	for _, p := range r.Events() {
		e, err := event.Parse(p.Event)
		if err != nil {
			r.t.Fatal(err)
		}
		if e.Kind == event.LaunchStarted && !e.Warm {
			list = append(list, string(p.Event))
		}
	}
	return list
}

// results takes what waits for report, as one invocation for each message.
func (r *running) results() []string {
	r.t.Helper()
	const name = "rollcall-results.fifo"
	i := slices.IndexFunc(r.Template.Queues, func(q template.Queue) bool { return q.Name == name })
	if i < 0 {
		r.t.Fatalf("the template has no queue %s", name)
	}
	arn := r.Template.Queues[i].ARN
	var list []string
	for r.queued(name) > 0 {
		messages, err := r.Queues.Receive(context.Background(), arn, 10, 0)
		if err != nil {
			r.t.Fatal(err)
		}
		for _, m := range messages {
			list = append(list, r.batch("eks-workshop", m.Body))
		}
		if err := r.Queues.Delete(arn, messages...); err != nil {
			r.t.Fatal(err)
		}
	}
	return list
}

// batch is the invocation by which Lambda hands over messages.
func (r *running) batch(group string, bodies ...string) string {
	r.t.Helper()
	var e events.SQSEvent
	for i, body := range bodies {
		m := events.SQSMessage{MessageId: fmt.Sprint(i), Body: body, EventSource: "aws:sqs", Attributes: map[string]string{"ApproximateReceiveCount": "1"}}
		if group != "" {
			m.Attributes["MessageGroupId"] = group
		}
		e.Records = append(e.Records, m)
	}
	raw, err := json.Marshal(e)
	if err != nil {
		r.t.Fatal(err)
	}
	return string(raw)
}

// direct is a cluster's turn as a detector's own function would get it, and turn as
// sweep does.
func (r *running) direct() string {
	raw, err := inbox.SweepCluster(spoke.ID{}, "eks-workshop", r.Template.AccountID, r.Template.Region, r.Clock.Now())
	if err != nil {
		r.t.Fatal(err)
	}
	return string(raw)
}

func (r *running) turn() string { return r.batch("", r.direct()) }

func (r *running) sweep() string {
	return fmt.Sprintf(`{"version":"0","id":"sweep","detail-type":"Scheduled Event","source":"aws.events","account":%q,"time":%q,"region":%q,"resources":[],"detail":{}}`,
		r.Template.AccountID, r.Clock.Now().UTC().Format(time.RFC3339), r.Template.Region)
}

// invoke gives a function events, each of which is to succeed in full.
func (r *running) invoke(folder string, list ...string) {
	r.t.Helper()
	f, ok := r.Function(folder)
	if !ok {
		r.t.Fatalf("the template has no function %s", folder)
	}
	if len(list) == 0 {
		r.t.Fatalf("there is nothing for %s", folder)
	}
	for _, raw := range list {
		result, err := r.Runtime.Invoke(context.Background(), f.Name, []byte(raw))
		if err != nil {
			r.t.Fatal(err)
		}
		if result.FunctionError != "" || strings.Contains(string(result.Payload), "itemIdentifier") {
			r.t.Fatalf("%s: %s", folder, result.Payload)
		}
	}
}

// TestByChoiceIsComplete: the stage gives each function that has grants by settings those
// of its own settings. One that is left out here would be refused what it is granted.
func TestByChoiceIsComplete(t *testing.T) {
	var got, want []string
	for _, f := range byChoice() {
		got = append(got, f.Name)
	}
	for _, f := range specs.All() {
		if f.Chosen != nil {
			want = append(want, f.Name)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-specs +stage):\n%s", diff)
	}
}

// A call through the simulated API comes to the default bus as CloudTrail
// brings it: with the one who made it, refused or not.
func TestCallsComeToTheBus(t *testing.T) { virtual(t, callsComeToTheBus) }

func callsComeToTheBus(t *testing.T) {
	r := start(t, "route", func(o *Options) { o.Quiet = true })
	r.scale(1, 1)
	_, err := eks.NewFromConfig(r.AsAdmin()).DeleteNodegroup(context.Background(), &eks.DeleteNodegroupInput{ClusterName: aws.String("eks-workshop"), NodegroupName: aws.String("x")})
	if err == nil {
		t.Fatal("deleting a nodegroup that is not there: got no error")
	}
	type record struct {
		Name, Code, Who string
		In              map[string]any
	}
	var got []record
	r.until("both calls are told", func() bool {
		got = nil
		for _, p := range r.Events() {
			var e struct {
				Type   string `json:"detail-type"`
				Detail struct {
					EventName, ErrorCode string
					UserIdentity         struct{ Arn string }
					RequestParameters    map[string]any
				}
			}
			if err := json.Unmarshal(p.Event, &e); err != nil {
				t.Fatal(err)
			}
			if p.Bus == "default" && e.Type == "AWS API Call via CloudTrail" {
				delete(e.Detail.RequestParameters, "scalingConfig")
				delete(e.Detail.RequestParameters, "clientRequestToken") // the SDK makes one for each call
				got = append(got, record{e.Detail.EventName, e.Detail.ErrorCode, e.Detail.UserIdentity.Arn, e.Detail.RequestParameters})
			}
		}
		return len(got) == 2
	})
	who := "arn:aws:iam::111122223333:user/" + Admin
	want := []record{
		{"UpdateNodegroupConfig", "", who, map[string]any{"name": "eks-workshop", "nodegroupName": "new_nodegroup_2"}},
		{"DeleteNodegroup", "ResourceNotFoundException", who, map[string]any{"name": "eks-workshop", "nodegroupName": "x"}},
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}

const (
	results     = "rollcall-results.fifo"
	resultsDead = "rollcall-results-dead.fifo"
)

// letters keeps the messages to report, in order.
type letters struct {
	mu   sync.Mutex
	list []string
}

func (l *letters) keep(o *Options) {
	o.Sent = func(queue, body string) {
		if strings.HasSuffix(queue, results) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.list = append(l.list, body)
		}
	}
}

func (l *letters) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.list)
}

// ofKind are those of a kind.
func (l *letters) ofKind(kind string) []string {
	return slices.DeleteFunc(l.all(), func(body string) bool { return kindOf(body) != kind })
}

// kindOf is the kind of a message to report; "" for an observation.
func kindOf(body string) string {
	if !strings.Contains(body, `"kind"`) && !strings.Contains(body, `"Kind"`) {
		return "" // the many observations are not read for it
	}
	var m struct{ Kind string }
	_ = json.Unmarshal([]byte(body), &m) // what is none has no kind
	return m.Kind
}

// lose takes a function's table away from it: it fails on whatever it gets.
func (r *running) lose(function string) { r.table(function, "no-such-table") }

// mend gives it back.
func (r *running) mend(function string) { r.table(function, r.Template.Tables[0].Name) }

func (r *running) table(function, name string) {
	r.t.Helper()
	f, _ := r.Function(function)
	env := maps.Clone(r.environment(f))
	env[string(config.TableName)] = name
	if err := r.Runtime.Configure(f.Name, env); err != nil {
		r.t.Fatal(err)
	}
}

// givenUp takes report's table away, does something of which report is to be told
// by messages of a kind, and gives the table back when the last of them is given
// up. What came after them is done then.
func (r *running) givenUp(got *letters, kind string, do func()) {
	r.t.Helper()
	r.settled()
	r.lose("report")
	before := len(got.all())
	do()
	r.until("it is given up", func() bool {
		// The queue keeps their order.
		list := got.all()[before:]
		last := len(list)
		for ; last > 0 && kindOf(list[last-1]) != kind; last-- {
		}
		return last > 0 && r.queued(resultsDead) >= last
	})
	r.mend("report")
	r.settled()
}

// settled waits until report has nothing to do.
func (r *running) settled() {
	r.t.Helper()
	r.until("report has nothing to do", func() bool { return r.queued(results) == 0 })
}

// redrive does what make redrive MOVE=1 does, and waits until report has read it all.
func (r *running) redrive() {
	r.t.Helper()
	client := sqs.NewFromConfig(r.AsAdmin())
	list, err := deadletters.Find(r.t.Context(), client, "rollcall")
	if err != nil {
		r.t.Fatal(err)
	}
	i := slices.IndexFunc(list, func(l deadletters.Letters) bool { return l.Queue == resultsDead && l.Source == results })
	if i < 0 {
		r.t.Fatalf("dead letters %+v, want some of %s", list, results)
	}
	moved, err := deadletters.Move(r.t.Context(), client, list[i], func(_ context.Context, d time.Duration) error { r.pass(d); return nil })
	if err != nil || moved != list[i].Messages {
		r.t.Fatalf("%d of %d moved: %v", moved, list[i].Messages, err)
	}
	r.settled()
	if n := r.queued(resultsDead); n > 0 {
		r.t.Errorf("%d are given up again", n)
	}
}

// copies puts messages into report's dead-letter queue, as if report had done what
// they say, and could not tell SQS.
func (r *running) copies(bodies ...string) {
	r.t.Helper()
	for i, body := range bodies {
		r.send(resultsDead, queue.Outgoing{Body: body, Group: "eks-workshop", Dedup: fmt.Sprint("copy-", i, "-", r.Clock.Now().UnixNano())})
	}
}

// TestPressThatDeadLettered: report could not read its table for longer than SQS
// tries. The approval comes back, counts as it would have, and once.
func TestPressThatDeadLettered(t *testing.T) { virtual(t, pressThatDeadLettered) }

func pressThatDeadLettered(t *testing.T) {
	got := &letters{}
	r := start(t, "route", approvable, got.keep)
	r.offeredRoute()
	before, ts := r.routes(), r.messages()[0].TS
	r.givenUp(got, report.PressKind, func() { r.press(Lead) })
	r.untouched("while the approval is a dead letter", before)
	if acts, told := r.acts(), r.toldAlone(Lead); len(acts)+len(told) > 0 {
		t.Errorf("answered %+v, told %q, and it is unread", acts, told)
	}
	r.answers("redriven", Lead, incident.AnswerApproved, r.redrive)
	r.until("what was done", r.replied("Done"))
	r.doneOnce(before, Lead)

	r.settled()
	r.copies(slices.Concat(got.ofKind(report.PressKind), got.ofKind(report.RemedyResultKind))...)
	if n := r.queued(resultsDead); n < 2 {
		t.Fatalf("%d copies, want the press and the run at least", n)
	}
	r.redrive()
	r.pass(12 * time.Minute) // two sweeps
	r.answeredOnce(Lead, incident.AnswerApproved)
	r.doneOnce(before, Lead)
	r.replaceLaunches()
	r.until("the proof", func() bool { return r.incident().State == incident.Closed })
	r.copies(got.ofKind(report.PressKind)...)
	r.redrive()
	r.answeredOnce(Lead, incident.AnswerApproved)
	r.saidOnce(ts)
	r.nothingLost("rollcall-failed") // report's own ticks meanwhile
}

// answeredOnce holds that one press was ruled on, once.
func (r *running) answeredOnce(user string, want incident.AnswerReason) {
	r.t.Helper()
	if acts := r.acts(); len(acts) != 1 || acts[0].User.ID != user || acts[0].Answer.Reason != want {
		r.t.Errorf("recorded %+v, want one press by %s, %s", acts, user, want)
	}
	if told := r.toldAlone(user); len(told) != 1 || r.ephemerals() != 1 {
		r.t.Errorf("%s got %q, and %d answers went out; want one", user, told, r.ephemerals())
	}
}

// TestPressThatExpiredAsADeadLetter: what could be approved for ten minutes is not
// done half an hour later, and whoever pressed gets the reason.
func TestPressThatExpiredAsADeadLetter(t *testing.T) { virtual(t, pressThatExpiredAsADeadLetter) }

func pressThatExpiredAsADeadLetter(t *testing.T) {
	got := &letters{}
	r := start(t, "route", approvable, got.keep, func(o *Options) { o.Settings[string(config.ApprovalTime)] = "10m" })
	r.offeredRoute()
	before := r.routes()
	r.givenUp(got, report.PressKind, func() { r.press(Lead) })
	r.answers("redriven", Lead, incident.PlanExpired, r.redrive)
	if told := r.toldAlone(Lead); len(told) != 1 || !strings.Contains(told[0], "expired") {
		t.Errorf("told %q", told)
	}
	r.untouched("expired", before)
	r.nothingLost("rollcall-failed") // report's own ticks meanwhile
}

// TestDeedThatDeadLettered: remediate has added the route, and report does not
// hear of it for half an hour. Then it says so, once: from the message that comes
// back, as remediate, which tells what it did whenever it is woken, is away too.
func TestRunThatDeadLettered(t *testing.T) { virtual(t, runThatDeadLettered) }

func runThatDeadLettered(t *testing.T) {
	got := &letters{}
	r := start(t, "route", approvable, got.keep, func(o *Options) {
		o.EventFaults = func(e router.Event) router.Fault {
			if e.DetailType == "Rollcall Remedy Approved" {
				return router.Fault{Delay: 5 * time.Minute} // report has acknowledged the press by then
			}
			return router.Fault{}
		}
	})
	r.offeredRoute()
	before, ts := r.routes(), r.messages()[0].TS
	r.answers("approved", Lead, incident.AnswerApproved, func() { r.press(Lead) })
	r.givenUp(got, report.RemedyResultKind, func() {
		r.until("the run", func() bool {
			return len(r.runs()) == 1 && r.runs()[0].Result == remedy.Done && len(got.ofKind(report.RemedyResultKind)) > 0
		})
		r.lose("remediate")
	})
	if said := r.replies("Done"); len(said) > 0 {
		t.Fatalf("said %d times, and report has not heard of it", len(said))
	}
	r.redrive()
	r.until("what was done", r.replied("Done"))
	r.doneOnce(before, Lead)

	r.mend("remediate")
	runs := got.ofKind(report.RemedyResultKind)
	r.copies(runs...)
	r.redrive()
	r.replaceLaunches()
	r.until("the proof", func() bool { return r.incident().State == incident.Closed })
	r.copies(runs...)
	r.redrive()
	r.doneOnce(before, Lead)
	r.answeredOnce(Lead, incident.AnswerApproved)
	r.saidOnce(ts)
	r.nothingLost("rollcall-failed") // report's own ticks meanwhile
}

// TestCleanupSummaryThatDeadLettered: leaked interfaces are deleted while report is
// away. What came back is said when the summary comes back, and once a day.
func TestCleanupSummaryThatDeadLettered(t *testing.T) { virtual(t, cleanupSummaryThatDeadLettered) }

func cleanupSummaryThatDeadLettered(t *testing.T) {
	got := &letters{}
	r := start(t, "ips", got.keep, func(o *Options) {
		o.Settings = map[string]string{"ROLLCALL_CLEANUP": "eks-workshop=delete", "ROLLCALL_CLEANUP_SHARE": "100"}
	})
	said := func() int {
		n := 0
		for _, m := range r.messages() {
			if strings.Contains(whole(m), "addresses back in subnet-0b20000000000000b") {
				n++
			}
		}
		return n
	}
	r.givenUp(got, string(report.CleanupSummary), func() {
		id := r.leave("i-0dead000000000001", nil)
		r.until("it is deleted", func() bool { return !r.interfaceIsThere(id) && len(got.ofKind(string(report.CleanupSummary))) > 0 })
		r.lose("eni-cleanup") // each of its summaries is of the whole day
	})
	if n := said(); n > 0 {
		t.Fatalf("said %d times, and report has not heard of it", n)
	}
	r.redrive()
	r.until("what came back is said", func() bool { return said() == 1 })
	r.copies(got.ofKind(string(report.CleanupSummary))...)
	r.redrive()
	r.pass(12 * time.Minute)
	if n := said(); n != 1 {
		t.Errorf("said %d times, want once", n)
	}
	r.nothingLost("rollcall-failed")
}

// TestStormOfRefusedFleets: an hour of a NodePool whose fleets are all refused, as
// CloudTrail records them, minutes late and some twice, is one message with few
// edits and a record a minute; and it is over when Karpenter asks no more. The
// smaller number shows the same: there are several of them to a minute.
func TestStormOfRefusedFleets(t *testing.T) {
	sample, err := os.ReadFile("../events/in/ec2-call-create-fleet-refused.json")
	if err != nil {
		t.Fatal(err)
	}
	fleets := testfull.Count(5000, 500)
	virtual(t, func(t *testing.T) {
		s := start(t, "route")
		for i := range fleets {
			called := s.Clock.Now().UTC().Format(time.RFC3339)
			event := json.RawMessage(strings.ReplaceAll(string(sample), "2026-11-20T14:58:40Z", called))
			late := 3*time.Minute + time.Duration(i%7)*20*time.Second
			for range 1 + i%20/19 {
				s.background(func() {
					if s.Clock.Sleep(t.Context(), late) == nil {
						s.put(event)
					}
				})
			}
			s.pass(time.Hour / time.Duration(fleets))
		}
		s.pass(10 * time.Minute)
		if !s.hasMessage("NodePool default cannot launch", "a service control policy forbids it")() {
			t.Fatalf("the channel says %d messages: %v", len(s.messages()), s.messages())
		}
		writes, edits := 0, 0
		for _, c := range s.Cloud.Calls() {
			if c.Action() == "dynamodb:PutItem" && c.Principal.Name == "rollcall-launch-watch" {
				writes++
			}
		}
		for _, c := range s.Slack.Calls() {
			if c.Method == "chat.update" {
				edits++
			}
		}
		t.Logf("%d fleets: %d writes, %d edits", fleets, writes, edits)
		if writes > 150 || edits > 10 {
			t.Errorf("%d fleets are %d writes of launch-watch and %d edits of the message", fleets, writes, edits)
		}
		over := func() bool {
			for _, inc := range s.incidents() {
				if inc.Key.Check == checkid.LaunchPolicyDenied && inc.State == incident.Closed {
					return true
				}
			}
			return false
		}
		if over() {
			t.Fatal("it is over while fleets are refused")
		}
		s.until("nobody asks for an hour: it is over", over)
	})
}
