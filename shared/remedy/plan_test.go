package remedy

import (
	"rollcall/shared/remedy/addnatroute"
	"rollcall/shared/remedy/optin"
	"testing"
)

// An approval is for one plan: whatever is different in what would be done is
// another plan.
func TestHashIsOfTheExactPlan(t *testing.T) {
	route := func(change func(*Plan)) Plan {
		p := Plan{
			Format: Format, Remedy: optin.AddNATRoute, Partition: "aws", Account: "111122223333", Region: "us-west-2", Cluster: "prod",
			Check: "route/no-egress", Resource: "rtb-0a",
			Route: &addnatroute.Plan{VPC: "vpc-0a", Table: "rtb-0a", Destination: "0.0.0.0/0", NAT: "nat-0a", Zones: []string{"us-west-2a"}},
		}
		change(&p)
		return p
	}
	base := route(func(*Plan) {}).Hash()
	if again := route(func(*Plan) {}).Hash(); again != base {
		t.Errorf("the same plan has two hashes, %s and %s", base, again)
	}
	for name, change := range map[string]func(*Plan){
		"another table":       func(p *Plan) { p.Route.Table = "rtb-0b" },
		"another gateway":     func(p *Plan) { p.Route.NAT = "nat-0b" },
		"another destination": func(p *Plan) { p.Route.Destination = "10.0.0.0/8" },
		"another cluster":     func(p *Plan) { p.Cluster = "dev" },
		"another account":     func(p *Plan) { p.Account = "444455556666" },
		"another incident":    func(p *Plan) { p.Resource = "rtb-0b" },
		"another remedy":      func(p *Plan) { p.Remedy = optin.ReplaceInstance },
	} {
		if got := route(change).Hash(); got == base {
			t.Errorf("%s: the hash is the same", name)
		}
	}
}
