package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/spec"
)

func TestRelay(t *testing.T) {
	good := map[string]string{
		string(RelayCluster): "arn:aws-us-gov:eks:us-gov-west-1:222233334444:cluster/a_b-1", string(RelayEndpoint): "https://A1.gr7.us-gov-west-1.eks.amazonaws.com", string(RelayCA): "Q0E=", string(InVPC): "on", string(Relays): "prod, dev",
	}
	wanted := []spec.Variable{RelayCluster, RelayEndpoint, RelayCA, InVPC, Relays}
	c, err := Load(func(name string) string { return good[name] }, wanted)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Relay{good[string(RelayCluster)], good[string(RelayEndpoint)], []byte("CA"), true, []string{"dev", "prod"}}, c.Relay); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, x := range []struct {
		variable spec.Variable
		text     string
	}{
		{RelayCluster, ""}, {RelayCluster, "prod"}, {RelayCluster, "arn:aws:eks:us-east-1:222233334444:cluster/a/b"}, {RelayCluster, "arn:aws:eks:us-east-1:222233334444:nodegroup/a"},
		{RelayEndpoint, ""}, {RelayEndpoint, "http://a.test"}, {RelayEndpoint, "https://a.test/"}, {RelayEndpoint, "https://a.test/api"}, {RelayEndpoint, "https://b@a.test"}, {RelayEndpoint, "https://a.test?x"},
		{RelayCA, ""}, {RelayCA, "-----BEGIN CERTIFICATE-----"}, {InVPC, "yes"}, {Relays, "all"}, {Relays, "a b"},
	} {
		if _, err := Load(func(name string) string {
			if name == string(x.variable) {
				return x.text
			}
			return good[name]
		}, wanted); err == nil {
			t.Errorf("%s=%q is taken", x.variable, x.text)
		}
	}
	// An earlier release's template does not say it: the function is in no VPC.
	if c, err := Load(func(string) string { return "" }, []spec.Variable{InVPC}); err != nil || c.InVPC {
		t.Errorf("%v, %v", c.InVPC, err)
	}
}
