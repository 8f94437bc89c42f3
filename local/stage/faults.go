package stage

import (
	"time"

	"rollcall/local/fakeslack"
	"rollcall/local/simaws"
	"rollcall/local/simaws/worldfile"
)

// callFaults are the world's faults of AWS and Kubernetes calls.
func callFaults(list []worldfile.Fault, start time.Time) []simaws.FaultRule {
	var rules []simaws.FaultRule
	for _, f := range list {
		if f.Call == "" {
			continue
		}
		r := simaws.FaultRule{
			Call: f.Call, Deny: f.Deny, Throttle: f.Throttle, Fail: f.Fail,
			Latency: f.Latency, Reset: f.Reset, Times: f.Times, From: start.Add(f.From),
		}
		if f.For > 0 {
			r.Until = r.From.Add(f.For)
		}
		rules = append(rules, r)
	}
	return rules
}

// slackFaults arms the world's faults of Slack, each when its time comes.
func (s *Stage) slackFaults(list []worldfile.Fault) {
	for _, f := range list {
		if f.Slack == nil {
			continue
		}
		s.background(func() {
			if s.Clock.Sleep(s.ctx, f.Slack.From) == nil {
				if err := s.Slack.Inject(fakeslack.Fault{Status: f.Slack.Status, For: f.Slack.For}); err != nil {
					s.log.Error("slack fault", "error", err)
				}
			}
		})
	}
}
