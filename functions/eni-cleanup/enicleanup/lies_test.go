package enicleanup

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"rollcall/local/stage/stagetest"
	"rollcall/shared/snapshot"
)

// liar answers DescribeInstances in EC2's place. The rest goes through.
type liar struct {
	next   http.RoundTripper
	answer string
	asked  int
}

func (l *liar) RoundTrip(req *http.Request) (*http.Response, error) {
	if action, _ := about(req); action != "DescribeInstances" {
		return l.next.RoundTrip(req)
	}
	l.asked++
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/xml"}}, Request: req,
		Body: io.NopCloser(bytes.NewReader([]byte(`<DescribeInstancesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><requestId>r</requestId>` + l.answer + `</DescribeInstancesResponse>`))),
	}, nil
}

// TestLies: whatever DescribeInstances answers, well formed and wrong, the
// interface of a machine that runs stays. Where the answer contradicts what is
// attached in the VPC, or is not whole, nothing is deleted at all, and that is
// told.
func TestLies(t *testing.T) {
	of := func(id, state string) string {
		return `<item><reservationId>r-1</reservationId><instancesSet><item><instanceId>` + id + `</instanceId>` + state + `</item></instancesSet></item>`
	}
	ended := `<instanceState><code>48</code><name>terminated</name></instanceState>`
	for _, test := range []struct {
		name, answer string
		// believed: the answer is taken for one, and the dead node's goes.
		believed bool
	}{
		{"another region, that knows nobody", `<reservationSet/>`, false},
		{"no list at all", ``, false},
		{"only the dead", `<reservationSet>` + of(dead, ended) + `</reservationSet>`, false},
		{"no state", `<reservationSet>` + of(alive, ``) + `</reservationSet>`, false},
		{"an empty page that leads to itself", `<reservationSet/><nextToken>again</nextToken>`, false},
		{"everybody terminated", `<reservationSet>` + of(alive, ended) + of(dead, ended) + `</reservationSet>`, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := open(t, stagetest.Options{})
			m := s.left()
			m.description, m.tags["node.k8s.amazonaws.com/instance_id"] = "aws-K8S-"+alive, alive
			living, left := s.make(m), s.make(s.left())
			transport := s.HTTPClient().Transport
			lies := &liar{next: transport, answer: test.answer}
			for range 4 {
				s.Advance(cadence)
				if _, err := handlerOf(s.Env(), lies)(t.Context(), s.Sweep()); err != nil {
					t.Fatal(err)
				}
			}
			if lies.asked == 0 || !s.there(living) {
				t.Errorf("asked %d times; the running machine's interface is there: %v", lies.asked, s.there(living))
			}
			if s.there(left) == test.believed {
				t.Errorf("the dead machine's interface is there: %v", s.there(left))
			}
			observations, _ := s.sent()
			told := false
			for _, o := range observations {
				for _, f := range o.Blind {
					told = told || f.Source == snapshot.CreatorsOf && strings.Contains(f.Call, "DescribeInstances")
				}
			}
			if told == test.believed {
				t.Errorf("told that it could not look: %v", told)
			}
		})
	}
}
