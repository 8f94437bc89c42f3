package enicleanup

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"rollcall/local/stage/stagetest"
	"rollcall/shared/network/leak"
)

// meddler lets somebody else act just before a request: once, before the first
// that is of the kind.
type meddler struct {
	next http.RoundTripper
	kind func(action, body string) bool
	act  func()
	done bool
}

func (m *meddler) RoundTrip(req *http.Request) (*http.Response, error) {
	action, _ := about(req)
	if !m.done && action != "" {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		req.Body = io.NopCloser(bytes.NewReader(body))
		if m.kind(action, string(body)) {
			m.done = true
			m.act()
		}
	}
	return m.next.RoundTrip(req)
}

// described again, and the delete itself.
func again(action, body string) bool {
	return action == "DescribeNetworkInterfaces" && strings.Contains(body, "network-interface-id")
}

func asksToDelete(action, _ string) bool { return action == "DeleteNetworkInterface" }

// TestMeddled: every rule holds when the run looks, and between the look and
// the delete somebody changes one thing. EC2 would still delete it, but for
// what is attached: that the run describes it again is what saves it, and no
// delete is so much as asked for.
func TestMeddled(t *testing.T) {
	tag := func(key, value string) func(*harness, string) bool {
		return func(s *harness, id string) bool {
			return s.others("ec2:CreateTags", `{"Resources":["`+id+`"],"Tags":[{"Key":"`+key+`","Value":"`+value+`"}]}`)
		}
	}
	for _, test := range []struct {
		name string
		when func(action, body string) bool
		act  func(s *harness, id string) bool
		// asked are deletes that EC2 is asked for, result what is recorded.
		asked  int
		result leak.Result
	}{
		{"attached", again, (*harness).taken, 0, ""},
		{"marked by a person", again, tag("keep", "until Friday"), 0, ""},
		{"given to another cluster", again, tag(leak.TagCluster, "theirs"), 0, ""},
		{"given to another node", again, tag(leak.TagInstance, alive), 0, ""},
		{"made anew, as its date says", again, tag(leak.TagCreated, "2026-11-20T15:00:00Z"), 0, ""},
		{"given an address", again, func(s *harness, id string) bool {
			return s.others("ec2:AssignPrivateIpAddresses", `{"NetworkInterfaceId":"`+id+`","SecondaryPrivateIpAddressCount":1}`)
		}, 0, ""},
		{"attached after that too", asksToDelete, (*harness).taken, 1, leak.LostInUse},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := open(t, stagetest.Options{})
			id := s.make(s.left())
			s.sweep()
			s.Advance(cadence)
			transport := s.HTTPClient().Transport
			changed := false
			line := &meddler{next: transport, kind: test.when, act: func() { changed = test.act(s, id) }}
			if _, err := handlerOf(s.Env(), line)(t.Context(), s.Sweep()); err != nil {
				t.Fatal(err)
			}
			if !changed {
				t.Fatal("nobody changed it: nothing is tested")
			}
			if n := s.Calls()["ec2:DeleteNetworkInterface"]; n != test.asked || !s.there(id) || len(s.told()) > 0 {
				t.Errorf("%d deletes asked for, want %d; it is there: %v; told %v", n, test.asked, s.there(id), s.told())
			}
			switch list := s.audits(); {
			case test.result == "" && len(list) > 0, test.result != "" && (len(list) != 1 || list[0].Result != test.result):
				t.Errorf("records %+v, want %q", list, test.result)
			}
		})
	}
}
