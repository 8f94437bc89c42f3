package stage

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws"
	"rollcall/local/simaws/worldfile"
	"rollcall/shared/spoke"
)

// TestAliases: the hub has no alias, one account has a name in the settings, one an alias,
// and one does not let its alias be read. Each is called by the best name that there is. Whoever
// has told is asked once, whichever of the function's processes has the tick; who refuses once
// an hour, as has no alias, and no message tells of it.
func TestAliases(t *testing.T) {
	refusing := spoke.ID{Account: "444455556666", Region: "us-west-2"}
	const asks = "iam:ListAccountAliases"
	alias := func(name string) func(*worldfile.File) {
		return func(f *worldfile.File) { f.IAM.AccountAliases = []string{name} }
	}
	virtual(t, func(t *testing.T) {
		r := start(t, "route", watching(nil), func(o *Options) {
			o.Spokes = []Spoke{
				{ID: payments, World: o.World, Change: alias("acme-pay")},
				{ID: search, World: o.World, Change: alias("acme-search")},
				{ID: refusing, World: o.World, Change: alias("acme-secret"), Faults: []simaws.FaultRule{{Call: asks, Deny: true}}},
			}
			o.Settings["ROLLCALL_SPOKES"] = payments.String() + "=payments," + search.String() + "," + refusing.String()
		})
		r.pass(6 * time.Minute)
		r.scale(1, 1)
		whose := map[spoke.ID]string{payments: "payments", search: "acme-search", refusing: refusing.Account}
		for id := range whose {
			if _, err := r.SpokeWorld(id).API().UpdateNodegroupConfig(&eks.UpdateNodegroupConfigInput{
				ClusterName: aws.String("eks-workshop"), NodegroupName: aws.String("new_nodegroup_2"),
				ScalingConfig: &types.NodegroupScalingConfig{MinSize: aws.Int32(0), MaxSize: aws.Int32(1), DesiredSize: aws.Int32(1)},
			}); err != nil {
				t.Fatal(err)
			}
		}
		r.until("the message of the hub's own", r.posted("eks-workshop (111122223333)", table))
		for id, name := range whose {
			r.until("the message of "+name, r.posted("eks-workshop ("+name+")", table))
			list, err := r.memory().In(id).Incidents(t.Context(), "eks-workshop")
			if err != nil || len(list) != 1 || list[0].Account != id.Account || list[0].Key.Spoke != id || strings.Contains(list[0].Key.Name(), "acme") {
				t.Errorf("%s has the incidents %+v, %v", name, list, err)
			}
		}
		r.pass(time.Hour)
		if n := len(r.messages()); n != 4 {
			t.Errorf("%d messages, want one for each account", n)
		}
		codes := func(calls []wire.Call) (list []string) {
			for _, c := range calls {
				if c.Action() == asks {
					list = append(list, c.Caller+" "+c.Code)
				}
			}
			return list
		}
		for name, x := range map[string]struct{ got, want []string }{
			"the hub":         {codes(r.Cloud.Calls()), []string{"rollcall-sweep ", "rollcall-sweep "}},
			"payments":        {codes(r.SpokeCalls(payments)), nil},
			"search":          {codes(r.SpokeCalls(search)), []string{"rollcall-sweep "}},
			"the one refused": {codes(r.SpokeCalls(refusing)), []string{"rollcall-sweep AccessDenied", "rollcall-sweep AccessDenied"}},
		} {
			if !slices.Equal(x.got, x.want) {
				t.Errorf("%s was asked by %q, want %q", name, x.got, x.want)
			}
		}
		if strings.Contains(r.out.String(), "IAM does not allow a call") {
			t.Error("a role lacks a permission that its function uses")
		}
		r.nothingLost()
	})
}
