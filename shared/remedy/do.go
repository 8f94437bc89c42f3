package remedy

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"

	"rollcall/shared/plan"
)

// Hand does what plans say, each step with one call.
type Hand struct {
	routes    Routes
	instances Instances
	groups    SecurityGroups
	capacity  Capacity
	access    Access
}

// NewHand makes a hand.
func NewHand(cfg aws.Config) Hand {
	return Hand{NewRoutes(cfg), NewInstances(cfg), NewSecurityGroups(cfg), NewCapacity(cfg), NewAccess(cfg)}
}

// Did is what came of a plan.
type Did struct {
	Result plan.Result
	// Reason is AWS's code of an error.
	Reason string
	Says   string
	// Changed are the ids of what was changed, Requests AWS's request ids.
	Changed, Requests []string
}

// Do does a plan. What eni-cleanup does is not done here. By the token EKS knows
// a call that it has had already.
func (h Hand) Do(ctx context.Context, p plan.Plan, token string) Did {
	switch {
	case p.Route != nil:
		return one(p.Route.Table, h.routes.Add(ctx, *p.Route))
	case p.Open != nil:
		return one(p.Open.SecurityGroup, h.groups.Open(ctx, *p.Open))
	case p.Cover != nil:
		return one(p.Cover.Nodegroup+p.Cover.Group, h.capacity.Raise(ctx, p.Cluster, *p.Cover, token))
	case p.Access != nil:
		return one(p.Access.Principal, h.access.Create(ctx, p.Cluster, *p.Access, token))
	case p.Replace != nil:
		return h.replace(ctx, *p.Replace)
	}
	return Did{Result: plan.Refused, Reason: "no-such-remedy", Says: fmt.Sprintf("%s is not done here.", p.Remedy)}
}

// one is a plan of one step.
func one(id string, a Answer) Did {
	d := Did{Result: plan.Done}
	if a.Request != "" {
		d.Requests = []string{a.Request}
	}
	switch a.Outcome {
	case Done:
		d.Changed = []string{id}
		return d
	case Uncertain:
		d.Result = plan.Uncertain
		d.Says = "No answer came that says whether it was done."
	default:
		d.Result = plan.Failed
		d.Says = fmt.Sprintf("Nothing was changed: AWS says %s: %s", a.Code, a.Message)
	}
	d.Reason = a.Code
	return d
}

// replace ends instances one after the other, and stops at the first that AWS
// does not end.
func (h Hand) replace(ctx context.Context, r plan.Replace) Did {
	all := Did{Result: plan.Done}
	for _, i := range r.Instances {
		d := one(i.Instance, h.instances.Replace(ctx, i.Instance))
		all.Requests = append(all.Requests, d.Requests...)
		all.Changed = append(all.Changed, d.Changed...)
		if d.Result == plan.Done {
			continue
		}
		all.Result, all.Reason, all.Says = d.Result, d.Reason, d.Says
		if d.Result == plan.Failed && len(all.Changed) > 0 {
			all.Result = plan.Partly
			all.Says = fmt.Sprintf("%d of %d instances were ended; then AWS said %s.", len(all.Changed), len(r.Instances), d.Reason)
		}
		break
	}
	return all
}
