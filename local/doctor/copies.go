package doctor

import (
	"context"

	"rollcall/infra/specs"
	"rollcall/shared/spec"
)

// copies looks at the rules on the bus of spokes: of each rule on what AWS tells there is a
// copy, by which what is forwarded wakes the same functions (infra/rules.go, onBuses).
func (c Clients) copies(ctx context.Context, h hub) []Finding {
	const on = Prefix + "-spokes"
	var list []Finding
	for _, f := range h.there {
		wants := copiesOf(f.spec)
		if len(wants) == 0 {
			continue
		}
		found, err := c.rulesOf(ctx, f, on)
		switch {
		case coded(err, "ResourceNotFoundException"): // the bus, of which busOfSpokes says so
			return nil
		case err != nil:
			list = append(list, unseen("rule", Prefix+"-"+f.spec.Name, "events:ListRuleNamesByTarget", err))
			continue
		}
		for _, w := range wants {
			list = append(list, c.rule(ctx, f, w, on, found))
		}
	}
	return list
}

// copiesOf are the copies of a function's rules.
func copiesOf(s spec.Spec) []waker {
	var list []waker
	for _, r := range s.Rules {
		if specs.OfAWS(r) {
			list = append(list, waker{id: camel(s.Name) + camel(r.Name) + "OfSpokesRule", why: "It is for what spokes forward. " + r.Why, pattern: r.Pattern})
		}
	}
	return list
}
