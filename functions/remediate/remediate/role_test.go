package remediate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/smithy-go"

	"rollcall/shared/incident"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/spoke"
)

// Nobody is asked to approve what the spoke's role would not do, and what to deploy is said;
// where STS does not tell of the role the plan stands, and its doing tells.
func TestNothingIsOfferedWithoutTheRole(t *testing.T) {
	for name, tt := range map[string]struct {
		err    error
		refuse bool
	}{
		"it lets in":             {nil, false},
		"it does not":            {fmt.Errorf("assume: %w", &smithy.GenericAPIError{Code: "AccessDenied"}), true},
		"STS is off there":       {&smithy.GenericAPIError{Code: "RegionDisabledException"}, true},
		"STS is throttled":       {&smithy.GenericAPIError{Code: "Throttling"}, false},
		"STS gives no answer":    {context.DeadlineExceeded, false},
		"what nobody recognises": {errors.New("because"), false},
	} {
		f := newFake()
		h := f.handler(optin.Approve)
		h.of = spoke.ID{Account: "222233334444", Region: "eu-west-1"}
		h.role = func(context.Context) error { return tt.err }
		no := h.lacksRole(t.Context())
		if (no != nil) != tt.refuse {
			t.Errorf("%s: refused %+v", name, no)
		}
		if no != nil && (no.Reason != action.RoleNotAssumed || !strings.Contains(no.Says, "make deploy-spoke … SPOKE=222233334444/eu-west-1 SET=")) {
			t.Errorf("%s: %s, %s", name, no.Reason, no.Says)
		}
	}
}

// A plan that was not done for want of the role is offered again when the role is there; one
// that failed otherwise is not.
func TestOfferedAgainWithTheRole(t *testing.T) {
	for reason, again := range map[string]bool{string(action.RoleNotAssumed): true, "RouteAlreadyExists": false} {
		f := newFake()
		h := f.handler(optin.Approve)
		inc := noWayOut()
		p := remedy.Plan{Format: remedy.Format, Remedy: optin.AddNATRoute, Cluster: inc.Key.Cluster, Check: inc.Key.Check, Resource: inc.Key.Resource}
		inc.Offers = []incident.Offer{{Plan: p, Hash: p.Hash(), State: incident.Acted, Made: minute(2), Run: &remedy.Run{Result: action.Failed, Reason: reason}}}
		if err := h.offer(t.Context(), inc, p, optin.Approve, ""); err != nil {
			t.Fatal(err)
		}
		if got := slices.ContainsFunc(f.lines, func(l string) bool { return strings.HasPrefix(l, "proposal: ") }); got != again {
			t.Errorf("%s: offered again: %t; %q", reason, got, f.lines)
		}
	}
}
