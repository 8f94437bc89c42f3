package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"rollcall/infra/settings"
	"rollcall/infra/specs"
)

// Who reads in Kubernetes needs an access entry, and a VPC where the endpoint is
// private. An operator learns of it from these sentences, and grants what they name.
func TestReadersOfKubernetesAreNamed(t *testing.T) {
	var raw []byte
	for _, page := range []string{"../README.md", "../docs/deploy.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		raw = append(raw, text...)
	}
	texts := map[string]string{}
	for _, line := range strings.Split(string(raw), "\n") {
		for _, sentence := range []string{"read nodes, the network plugin's pods", "must then run inside a VPC"} {
			if strings.Contains(line, sentence) {
				texts["README, "+sentence], _, _ = strings.Cut(line, ";")
			}
		}
	}
	for _, k := range settings.Keys() {
		switch k.Name {
		case settings.KubernetesAccess, settings.VPCSubnetIDs, settings.VPCSecurityGroupIDs:
			texts["setting "+k.Name] = k.About
		}
	}
	if len(texts) != 5 {
		t.Fatalf("%d sentences: %v", len(texts), texts)
	}
	between := func(r rune) bool { return r != '-' && (r < 'a' || r > 'z') }
	count := 0
	for _, spec := range specs.All() {
		reads := len(spec.Kube) > 0
		if reads {
			count++
		}
		for where, text := range texts {
			if slices.Contains(strings.FieldsFunc(text, between), spec.Name) != reads {
				t.Errorf("%s: reads in Kubernetes: %v; %s says otherwise", spec.Name, reads, where)
			}
		}
	}
	if command := "KubernetesAccessCommand"; !strings.Contains(string(raw), "`"+command+"`") {
		t.Errorf("README does not name the output %s", command)
	}
	if words := []string{"", "one", "two", "three", "four", "five", "six", "seven", "eight"}; !strings.Contains(string(raw), "needs these "+words[count]+" in its VPC") {
		t.Errorf("README does not say that %d functions need a VPC", count)
	}
}
