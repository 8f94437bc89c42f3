package detect

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"

	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/evidence"
	"rollcall/shared/report"
)

// journal is a sender and a bucket that tell what came in which order.
type journal struct {
	steps []string
	err   error
	sent  report.Observation
}

func (j *journal) SendResult(_ context.Context, o report.Observation) error {
	j.steps, j.sent = append(j.steps, "sent"), o
	return j.err
}

// Create keeps an object, or does not.
func (j *journal) Create(context.Context, string, string, string, []byte) error {
	j.steps = append(j.steps, "kept")
	return errors.New("AccessDenied")
}

// TestToldBeforeKept: what was found is told first, with the key; what is kept comes when
// the work is done, and is no failure of it. Of advice, of what is well and of what nobody
// was told nothing is kept.
func TestToldBeforeKept(t *testing.T) {
	down := errors.New("down")
	for name, test := range map[string]struct {
		causes []diagnose.Cause
		err    error
		want   []string
	}{
		"a cause":         {[]diagnose.Cause{{Check: "route/a", Confidence: checks.Certain}}, nil, []string{"sent", "done", "kept"}},
		"a symptom":       {[]diagnose.Cause{{Check: "node/a", Confidence: checks.Symptom}}, nil, []string{"sent", "done", "kept"}},
		"advice":          {[]diagnose.Cause{{Check: "ip/a", Confidence: checks.Advice}}, nil, []string{"sent", "done"}},
		"nothing":         {nil, nil, []string{"sent", "done"}},
		"nobody was told": {[]diagnose.Cause{{Check: "route/a", Confidence: checks.Certain}}, down, []string{"sent", "done"}},
	} {
		t.Run(name, func(t *testing.T) {
			j := &journal{err: test.err}
			s := newStand()
			k := evidence.NewKeeper(j, "bucket", "", slog.New(slog.DiscardHandler), func(string, int) {})
			s.Detector = s.Detector.Keeping(k)
			s.Results = j
			k.Begin(nil)
			o := report.Observation{By: "join-check", Cluster: "prod", At: began}
			o.Diagnosis.Causes = test.causes
			if err := s.Tell(t.Context(), o); !errors.Is(err, test.err) {
				t.Errorf("%v, want %v", err, test.err)
			}
			j.steps = append(j.steps, "done")
			k.Flush(t.Context())
			if !slices.Equal(j.steps, test.want) {
				t.Errorf("%q, want %q", j.steps, test.want)
			}
			if kept := slices.Contains(test.want, "kept"); test.err == nil && kept != (j.sent.Evidence != "") {
				t.Errorf("the observation has the key %q", j.sent.Evidence)
			}
		})
	}
}
