package address

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/snapshot"
)

func TestSettingsWithoutTheCNI(t *testing.T) {
	if diff := cmp.Diff(SettingsOf(nil), Defaults()); diff != "" {
		t.Errorf("SettingsOf(nil) (-got +want):\n%s", diff)
	}
}

func TestSettingsOf(t *testing.T) {
	with := func(change func(*Settings)) Settings {
		s := Defaults()
		change(&s)
		return s
	}
	const image = "602401143452.dkr.ecr.us-west-2.amazonaws.com/amazon-k8s-cni"
	tests := []struct {
		name string
		cni  snapshot.CNI
		want Settings
	}{
		{"nothing said", snapshot.CNI{Image: image + ":v1.23.1-eksbuild.1"}, Defaults()},
		{"before the tag's value counted", snapshot.CNI{Image: image + ":v1.22.0-eksbuild.1"}, with(func(s *Settings) { s.ByValue = false })},
		{"from then on", snapshot.CNI{Image: image + ":v1.22.1"}, Defaults()},
		{"before other subnets were looked for", snapshot.CNI{Image: image + ":v1.17.9"}, with(func(s *Settings) { s.Discovery, s.ByValue = false, false })},
		{"a version that is none", snapshot.CNI{Image: image + ":v1.latest.0"}, Defaults()},
		{"no version", snapshot.CNI{Image: image + "@sha256:0123"}, Defaults()},
		{"a registry with a port", snapshot.CNI{Image: "registry:5000/cni:v1.17.0"}, with(func(s *Settings) { s.Discovery, s.ByValue = false, false })},
		{"switched off", snapshot.CNI{Env: map[string]string{"ENABLE_SUBNET_DISCOVERY": "False"}}, with(func(s *Settings) { s.Discovery = false })},
		{"a value that is none leaves it on", snapshot.CNI{Env: map[string]string{"ENABLE_SUBNET_DISCOVERY": "maybe"}}, Defaults()},
		{"custom networking by zone", snapshot.CNI{Env: map[string]string{"AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": "1", "ENI_CONFIG_LABEL_DEF": "topology.kubernetes.io/zone", "CLUSTER_NAME": "prod"}},
			with(func(s *Settings) { s.Elsewhere, s.ConfigLabel, s.Cluster = true, "topology.kubernetes.io/zone", "prod" })},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(SettingsOf(&tt.cni), tt.want); diff != "" {
				t.Errorf("SettingsOf (-got +want):\n%s", diff)
			}
		})
	}
}
