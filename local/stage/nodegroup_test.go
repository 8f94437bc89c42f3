package stage

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"rollcall/local/fakeslack"
	"rollcall/local/platform/router"
	"rollcall/local/testfull"

	"rollcall/shared/incident"

	"rollcall/shared/nodegroup"
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
		if n%testfull.Of(1, 2) != 0 { // every second has each kind of end
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
	for _, s := range stories()[4-testfull.Of(4, 2) : 4] {
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

// inOrder tells that all of want is among got, in this order.
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
	schema, err := c.Compile("../../events/schema/eks-nodegroup-status-change.json")
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
