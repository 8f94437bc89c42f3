package shell

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"rollcall/tools/expect"
)

// What changes something and what only looks, by program and verb.
func TestEffectOf(t *testing.T) {
	for command, want := range map[string]string{
		"": "",
		"aws ec2 describe-subnets --region us-west-2 --filters Name=a,Values=delete-route":                                   "",
		"aws cloudtrail lookup-events --region us-west-2":                                                                    "",
		"kubectl -n kube-system get pods -l k8s-app=aws-node":                                                                "",
		"kubectl --namespace kube-system describe pods":                                                                      "",
		"aws ec2 create-route --region us-west-2 --route-table-id rtb-1":                                                     "Changes the route",
		"kubectl -n kube-system set env daemonset aws-node WARM_IP_TARGET=2":                                                 "on every node of the cluster",
		"kubectl set env daemonset aws-node --namespace kube-system ENI_CONFIG_LABEL_DEF=a":                                  "on every node of the cluster",
		"kubectl set env deployment web A=b":                                                                                 "Restarts all its pods",
		"kubectl describe node a && aws ec2 terminate-instances --instance-ids i-1":                                          "Terminates the instance",
		"aws ec2 describe-launch-template-versions --region x | aws ec2 create-launch-template-version --region x":           "Adds a version",
		"for id in eni-1 eni-2; do aws ec2 delete-network-interface --region us-west-2 --network-interface-id \"$id\"; done": "Deletes the interface",
		"aws ec2 associate-dhcp-options --dhcp-options-id \"$(aws ec2 create-dhcp-options --region x)\"":                     "Changes DNS settings",
		"kubectl delete nodeclaim batch-x7":                                                                                  "Terminates the instance that this claim launched",
	} {
		got := EffectOf(command)
		if got.Changes != (want != "") || !strings.Contains(got.String(), want) || want == "" && got.String() != "" {
			t.Errorf("%s: changes %t, %q", command, got.Changes, got)
		}
	}
	if got := EffectOf("aws ec2 delete-everything"); !got.Changes || got.String() != "" {
		t.Errorf("what is not known changes %t: %q", got.Changes, got)
	}
}

// Each command of the checks and remedies that changes something says what, and how it is
// undone; nothing cluster-wide goes without it.
func TestEachChangeHasARow(t *testing.T) {
	written := regexp.MustCompile(`"((?:ec2|eks|iam|autoscaling|ssm|cloudtrail|service-quotas|arc-zonal-shift) [a-z][a-z-]+[a-z])"`)
	direct := regexp.MustCompile(`shell\.Command\("((?:kubectl|eksctl|make|aws)"(?:, "[^"]*")+)`)
	found := 0
	for _, dir := range []string{"../checks", "../remedy", "../incident", "../slack"} {
		expect.OK(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			var commands []string
			for _, m := range written.FindAllStringSubmatch(string(text), -1) {
				commands = append(commands, "aws "+m[1])
			}
			for _, m := range direct.FindAllStringSubmatch(string(text), -1) {
				commands = append(commands, strings.NewReplacer(`", "`, " ", `"`, "").Replace(m[1]))
			}
			for _, c := range commands {
				if strings.HasSuffix(c, "kubectl -n") || c == "aws ec2 imds" { // the rest is not in this pattern; no command
					continue
				}
				found++
				begun := slices.ContainsFunc(effects(), func(e effect) bool { return strings.HasPrefix(e.words, c+" ") })
				if e := EffectOf(c); e.Changes && !begun && (e.Touches == "" || e.Undo == "") {
					t.Errorf("%s: %q has no row in effects", path, c)
				}
			}
			return nil
		}))
	}
	if found < 60 {
		t.Errorf("%d commands found: the pattern does not find them any more", found)
	}
}
