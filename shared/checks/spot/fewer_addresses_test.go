package spot

import (
	"testing"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/checks/facts"
	"rollcall/shared/node/spot"
	"rollcall/shared/snapshot"
)

// The command is one with which the same launches fit; where none does, or where what a
// node takes is not known, there is none.
func TestTheCommandMakesTheBurstFit(t *testing.T) {
	set := func(minimum string) string {
		return "kubectl -n kube-system set env daemonset aws-node MINIMUM_IP_TARGET=" + minimum + " WARM_IP_TARGET=2"
	}
	env := func(name, value string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) { s.CNI.Env[name] = value }
	}
	for name, test := range map[string]struct {
		had    int
		change func(*snapshot.Snapshot)
		want   string
	}{
		"eight with 1 and 20 each":   {251, func(*snapshot.Snapshot) {}, set("20")},
		"eight with 1 and 20, just":  {168, func(*snapshot.Snapshot) {}, set("20")},
		"one address less":           {167, func(*snapshot.Snapshot) {}, set("19")},
		"eight with 1 and 5, just":   {48, func(*snapshot.Snapshot) {}, set("5")},
		"too few for pods at all":    {47, func(*snapshot.Snapshot) {}, ""},
		"prefixes":                   {251, env("ENABLE_PREFIX_DELEGATION", "true"), ""},
		"pods are in other subnets":  {251, env("AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG", "true"), ""},
		"the settings were not read": {251, func(s *snapshot.Snapshot) { checktest.Unread(snapshot.AWSNode)(s); s.CNI = nil }, ""},
		"the type was not read":      {251, func(s *snapshot.Snapshot) { s.InstanceTypes = nil }, ""},
	} {
		view := facts.NewView(burst(test.had, test.change))
		of := spot.Burst{Had: test.had, Terms: []spot.Term{{Type: "m5.4xlarge", Count: 8}}}
		if got := newBurstLook(view).fewer(of); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
