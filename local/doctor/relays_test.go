package doctor

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/infra/specs"
	"rollcall/local/fakeslack"
	"rollcall/local/simaws"
	"rollcall/local/simaws/worldfile"
	"rollcall/local/stage"
	"rollcall/shared/config"
	"rollcall/shared/spoke"
)

// privately is a world whose clusters answer in their VPC alone.
func privately(f *worldfile.File) {
	for i := range f.EKS.Clusters {
		f.EKS.Clusters[i].ResourcesVpcConfig.EndpointPublicAccess, f.EKS.Clusters[i].ResourcesVpcConfig.EndpointPrivateAccess = false, true
	}
}

// TestRelays: what can be wrong with the relay of a cluster that answers in its VPC alone.
func TestRelays(t *testing.T) {
	cluster := spoke.Cluster{Name: "eks-workshop"}
	const function = "arn:aws:lambda:us-west-2:111122223333:function:rollcall-relay-eks-workshop"
	tagged := func(tags map[string]string) func(*deployed) error {
		return func(p *deployed) error { p.Deployment.Tag(function, tags); return nil }
	}
	openTo := func(private bool, ranges ...string) func(*worldfile.File) {
		return func(f *worldfile.File) {
			for i := range f.EKS.Clusters {
				vpc := f.EKS.Clusters[i].ResourcesVpcConfig
				vpc.EndpointPublicAccess, vpc.EndpointPrivateAccess, vpc.PublicAccessCidrs = true, private, ranges
			}
		}
	}
	for name, x := range map[string]struct {
		change  func(*worldfile.File)
		want    string
		command string
	}{
		"open to all": {openTo(true, "203.0.113.0/24", "0.0.0.0/0"), "", ""},
		"open to some": {openTo(true, "203.0.113.0/24", "198.51.100.7/32"), "relay rollcall-relay-eks-workshop is not there, and the public endpoint of the API of eks-workshop is open to 203.0.113.0/24, 198.51.100.7/32 alone:" +
			" its nodes, pods and volumes cannot be read from the functions' addresses, which are AWS's", "make deploy-relay CLUSTER=eks-workshop"},
		"open to some, not within": {openTo(false, "203.0.113.0/24"), "relay rollcall-relay-eks-workshop is not there, and the public endpoint of the API of eks-workshop is open to 203.0.113.0/24 alone:" +
			" its nodes, pods and volumes cannot be read from the functions' addresses, which are AWS's", "aws eks update-cluster-config --name eks-workshop --resources-vpc-config endpointPrivateAccess=true && make deploy-relay CLUSTER=eks-workshop"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := stage.Start(t.Context(), stage.Options{
				World: "../worlds/healthy-nat.yaml", Template: "../../infra/Rollcall.template.json", Rights: "../../deploy/clusterrole.yaml", RelayTemplate: "../../infra/RollcallRelay.template.json", Quiet: true, Still: true, Change: x.change,
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(s.Close)
			p := &deployed{Stage: s, t: t, slack: fakeslack.Config{Token: stage.SlackToken, Channels: []fakeslack.Channel{{ID: channel, Name: "eks-oncall"}}}}
			got, command := "", ""
			for _, f := range p.examined(false) {
				if f.Part == "relay" {
					got, command = f.Part+" "+f.Name+" "+f.Says, f.Command
				}
			}
			if got != x.want || !strings.HasPrefix(strings.ReplaceAll(command, "'", ""), x.command) {
				t.Errorf("found %q, %s; want %q, %s", got, command, x.want, x.command)
			}
		})
	}
	for name, x := range map[string]struct {
		settings map[string]string
		deploy   bool
		damage   func(*deployed) error
		state    State
		want     string
		command  string
	}{
		"there": {nil, true, nil, Well, "relay rollcall-relay-eks-workshop is there, of this cluster and this release, and lets in nobody by itself", ""},
		"not named": {map[string]string{string(config.Relays): "dev"}, true, nil, Wrong,
			"relay rollcall-relay-eks-workshop is not named by the setting relays: one that was used before there was the setting is asked for 30 days from the upgrade, any other is not", "SET=relays=dev,eks-workshop"},
		"not there":      {nil, false, nil, Wrong, "relay rollcall-relay-eks-workshop is not there, and the API of eks-workshop has a private endpoint only: its nodes, pods and volumes cannot be read", "make deploy-relay CLUSTER="},
		"within the VPC": {map[string]string{string(config.InVPC): "on"}, false, nil, Wrong, "", ""},
		"of another time": {nil, false, func(p *deployed) error {
			return p.DeployRelay(cluster, map[string]string{"ClusterEndpoint": "https://EARLIER.eks.test"})
		}, Wrong, "relay rollcall-relay-eks-workshop is of another cluster than the one that has the name now, and refuses what it is asked", "make deploy-relay"},
		"cannot run": {nil, true, func(p *deployed) error {
			p.Deployment.FailUpdate(function, "The subnet is gone")
			return nil
		}, Wrong, "relay rollcall-relay-eks-workshop cannot run: The subnet is gone", "make deploy-relay"},
		"of another release": {nil, true, tagged(map[string]string{specs.RelayTag: "0123456789ab"}), Wrong,
			"relay rollcall-relay-eks-workshop is of another release: what it hands on, or how it is asked, is not what this release wants",
			"make deploy-relay CLUSTER=eks-workshop BUCKET=a-bucket-of-this-region"},
		"of a release that wrote no tag": {nil, true, tagged(map[string]string{"app": "rollcall"}), Wrong,
			"relay rollcall-relay-eks-workshop tells of no release: it is an earlier one, and may refuse what this release asks for",
			"make deploy-relay CLUSTER=eks-workshop BUCKET=a-bucket-of-this-region"},
	} {
		t.Run(name, func(t *testing.T) {
			o := stage.Options{
				World: "../worlds/healthy-nat.yaml", Template: "../../infra/Rollcall.template.json", Rights: "../../deploy/clusterrole.yaml", RelayTemplate: "../../infra/RollcallRelay.template.json",
				Quiet: true, Still: true, Change: privately, Settings: x.settings,
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

// TestRelayThatMayNotBeRead: what of a relay may not be read is not known, by the name of the
// permission.
func TestRelayThatMayNotBeRead(t *testing.T) {
	s, err := stage.Start(t.Context(), stage.Options{
		World: "../worlds/healthy-nat.yaml", Template: "../../infra/Rollcall.template.json", Rights: "../../deploy/clusterrole.yaml", RelayTemplate: "../../infra/RollcallRelay.template.json",
		Quiet: true, Still: true, Change: privately, Relays: []spoke.Cluster{{Name: "eks-workshop"}}, CallFaults: []simaws.FaultRule{{Call: "lambda:ListTags", Deny: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	p := &deployed{Stage: s, t: t}
	p.slack = fakeslack.Config{Token: stage.SlackToken, Channels: []fakeslack.Channel{{ID: channel, Name: "eks-oncall"}}}
	list := p.examined(false)
	if diff := cmp.Diff([]string{"relay rollcall-relay-eks-workshop lambda:ListTags was refused"}, of(list, Unknown)); diff != "" || len(of(list, Wrong)) > 0 {
		t.Errorf("wrong %q, not seen (-want +got):\n%s", of(list, Wrong), diff)
	}
}

// TestRelayOfASpoke: it is looked for in the spoke's account, and also where the hub's own
// functions are in a VPC, from where they reach the hub's own clusters alone.
func TestRelayOfASpoke(t *testing.T) {
	cluster := spoke.Cluster{ID: payments, Name: "eks-workshop"}
	const named = "relay rollcall-relay-222233334444/eu-west-1/eks-workshop "
	for name, x := range map[string]struct {
		relays   []spoke.Cluster
		settings map[string]string
		damage   func(*deployed)
		state    State
		want     string
		command  string // of the hub
	}{
		"there": {relays: []spoke.Cluster{cluster}, state: Well, want: named + "is there, of this cluster and this release, and lets in nobody by itself"},
		"not there": {state: Wrong, settings: map[string]string{string(config.InVPC): "on"},
			want: named + "is not there, and the API of eks-workshop has a private endpoint only: its nodes, pods and volumes cannot be read"},
		"of another release": {relays: []spoke.Cluster{cluster}, state: Wrong, damage: func(p *deployed) {
			p.SpokeDeployment(payments).Tag("arn:aws:lambda:eu-west-1:222233334444:function:rollcall-relay-eks-workshop", map[string]string{specs.RelayTag: "0123456789ab"})
		}, want: named + "is of another release: what it hands on, or how it is asked, is not what this release wants"},
		"not named": {relays: []spoke.Cluster{cluster}, state: Wrong, settings: map[string]string{string(config.Relays): "dev"}, command: "SET=relays=dev,222233334444/eu-west-1/eks-workshop",
			want: named + "is not named by the setting relays: one that was used before there was the setting is asked for 30 days from the upgrade, any other is not"},
	} {
		t.Run(name, func(t *testing.T) {
			settings := watching(nil).settings
			maps.Copy(settings, x.settings)
			s, err := stage.Start(t.Context(), stage.Options{
				World: "../worlds/healthy-nat.yaml", Template: "../../infra/Rollcall.template.json", Rights: "../../deploy/clusterrole.yaml", RelayTemplate: "../../infra/RollcallRelay.template.json",
				SpokeTemplate: "../../infra/RollcallSpoke.template.json", Spokes: []stage.Spoke{{ID: payments, World: "../worlds/route.yaml", Change: privately}},
				Quiet: true, Still: true, Settings: settings, Relays: x.relays,
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(s.Close)
			p := &deployed{Stage: s, t: t}
			p.slack = fakeslack.Config{Token: stage.SlackToken, Channels: []fakeslack.Channel{{ID: channel, Name: "eks-oncall"}}}
			if x.damage != nil {
				x.damage(p)
			}
			var got []string
			for _, f := range p.examined(false) {
				if f.Part == "relay" {
					there := strings.Contains(f.Do, "with credentials of account 222233334444")
					if got = append(got, f.Part+" "+f.Name+" "+f.Says); f.State != x.state || f.State == Wrong && there == (x.command != "") || x.command != "" && f.Command != x.command {
						t.Errorf("%s, to do is %q, %s", f.State, f.Do, f.Command)
					}
				}
			}
			if diff := cmp.Diff([]string{x.want}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
