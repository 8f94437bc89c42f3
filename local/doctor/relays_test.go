package doctor

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/local/fakeslack"
	"rollcall/local/simaws/worldfile"
	"rollcall/local/stage"
	"rollcall/shared/config"
	"rollcall/shared/spoke"
)

// TestRelays: what can be wrong with the relay of a cluster that answers in its VPC alone.
func TestRelays(t *testing.T) {
	cluster := spoke.Cluster{Name: "eks-workshop"}
	private := func(f *worldfile.File) {
		for i := range f.EKS.Clusters {
			f.EKS.Clusters[i].ResourcesVpcConfig.EndpointPublicAccess, f.EKS.Clusters[i].ResourcesVpcConfig.EndpointPrivateAccess = false, true
		}
	}
	for name, x := range map[string]struct {
		settings map[string]string
		deploy   bool
		damage   func(*deployed) error
		state    State
		want     string
		command  string
	}{
		"there":          {nil, true, nil, Well, "relay rollcall-relay-eks-workshop is there, of this cluster, and lets in nobody by itself", ""},
		"not there":      {nil, false, nil, Wrong, "relay rollcall-relay-eks-workshop is not there, and the API of eks-workshop has a private endpoint only: its nodes, pods and volumes cannot be read", "make deploy-relay CLUSTER="},
		"within the VPC": {map[string]string{string(config.InVPC): "on"}, false, nil, Wrong, "", ""},
		"of another time": {nil, false, func(p *deployed) error {
			return p.DeployRelay(cluster, map[string]string{"ClusterEndpoint": "https://EARLIER.eks.test"})
		}, Wrong, "relay rollcall-relay-eks-workshop is of another cluster than the one that has the name now, and refuses what it is asked", "make deploy-relay"},
		"cannot run": {nil, true, func(p *deployed) error {
			p.Deployment.FailUpdate("arn:aws:lambda:us-west-2:"+p.Template.AccountID+":function:rollcall-relay-eks-workshop", "The subnet is gone")
			return nil
		}, Wrong, "relay rollcall-relay-eks-workshop cannot run: The subnet is gone", "make deploy-relay"},
	} {
		t.Run(name, func(t *testing.T) {
			o := stage.Options{
				World: "../worlds/healthy-nat.yaml", Template: "../../infra/Rollcall.template.json", Rights: "../../deploy/clusterrole.yaml", RelayTemplate: "../../infra/RollcallRelay.template.json",
				Quiet: true, Still: true, Change: private, Settings: x.settings,
			}
			if x.deploy {
				o.Relays = []spoke.Cluster{cluster}
			}
			s, err := stage.Start(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(s.Close)
			p := &deployed{Stage: s, t: t}
			p.slack = fakeslack.Config{Token: stage.SlackToken, Channels: []fakeslack.Channel{{ID: channel, Name: "eks-oncall"}}}
			if x.damage != nil {
				if err := x.damage(p); err != nil {
					t.Fatal(err)
				}
			}
			var got []string
			command := ""
			for _, f := range p.examined(false) {
				if f.Part == "relay" {
					if f.State != x.state {
						t.Errorf("%s: %s", f.State, f.Says)
					}
					got, command = append(got, f.Part+" "+f.Name+" "+f.Says), f.Command
				}
			}
			var want []string
			if x.want != "" {
				want = []string{x.want}
			}
			if diff := cmp.Diff(want, got); diff != "" || !strings.HasPrefix(strings.ReplaceAll(command, "'", ""), x.command) {
				t.Errorf("command %s (-want +got):\n%s", command, diff)
			}
		})
	}
}
