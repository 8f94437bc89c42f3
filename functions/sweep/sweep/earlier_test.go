package sweep

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	joincheckspec "rollcall/functions/join-check/spec"
	"rollcall/infra/clusterrole"
	"rollcall/local/simaws"
	"rollcall/local/stage/stagetest"
)

// TestLetInAsAnEarlierReleaseWas: a cluster that let in the six functions of an earlier
// release is read before anybody lets in the reader, as join-check; one that let in others
// alone is not, and that is told.
func TestLetInAsAnEarlierReleaseWas(t *testing.T) {
	refused := simaws.FaultRule{Call: "sts:AssumeRole", Deny: true}
	for name, test := range map[string]struct {
		letIn  string
		faults []simaws.FaultRule
		blind  []string // codes
	}{
		"nobody":                                 {blind: []string{"Unauthorized"}},
		"zone-watch, as which sweep does not go": {letIn: "zone-watch", blind: []string{"Unauthorized"}},
		"join-check":                             {letIn: joincheckspec.Name},
		"join-check, and no role can be assumed": {letIn: joincheckspec.Name, faults: []simaws.FaultRule{refused},
			blind: []string{"AccessDenied"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := bench(t, stagetest.Options{ClusterRole: true, Faults: test.faults})
			b.Call("eks:DeleteAccessEntry", `{"clusterName":"`+stagetest.Cluster+`","principalArn":"`+b.Env().Config.ReaderRole+`"}`)
			if test.letIn != "" {
				role := simaws.RoleIdentity(b.Template.AccountID, "rollcall-"+test.letIn).RoleARN
				b.Call("eks:CreateAccessEntry", `{"clusterName":"`+stagetest.Cluster+`","principalArn":"`+role+`","kubernetesGroups":["`+clusterrole.Group+`"]}`)
			}
			b.Scale(2)
			b.Advance(8 * time.Minute)
			if _, err := b.Handle(stagetest.Batch(string(b.SweepOf(stagetest.Cluster)))); err != nil {
				t.Fatal(err)
			}
			var blind []string
			for _, told := range of(b, stagetest.Cluster) {
				for _, f := range told.Blind {
					if !slices.Contains(blind, f.Code) {
						blind = append(blind, f.Code)
					}
				}
			}
			if diff := cmp.Diff(test.blind, blind); diff != "" {
				t.Errorf("blind (-want +got):\n%s", diff)
			}
		})
	}
}
