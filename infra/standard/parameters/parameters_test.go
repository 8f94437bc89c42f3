package parameters

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/infra/settings"
	"rollcall/shared/config"
	"rollcall/tools/testfile"
)

func valuesOf(t *testing.T, context map[string]any) (map[string]string, error) {
	t.Helper()
	s, err := settings.Parse(context)
	if err != nil {
		t.Fatal(err)
	}
	return Values(s)
}

// Nothing but a channel is every default of the template.
func TestOnlyAChannel(t *testing.T) {
	got, err := valuesOf(t, map[string]any{"slackChannel": "C0123456789"})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range All() {
		want := p.Default
		if p.Name == SlackChannel {
			want = "C0123456789"
		}
		if got[p.Name] != want {
			t.Errorf("%s is %q, want %q", p.Name, got[p.Name], want)
		}
	}
}

// Every default is a value that CloudFormation accepts; every setting that a hub has is there.
func TestTable(t *testing.T) {
	names, groups := map[string]bool{}, map[Group]bool{}
	for _, g := range Groups() {
		groups[g] = true
	}
	for _, p := range All() {
		if names[p.Name] || p.About == "" || !groups[p.Group] {
			t.Errorf("%s is there twice, or has no text or no group (%q)", p.Name, p.Group)
		}
		names[p.Name] = true
		if reason := p.Refuses(p.Default); !p.Required && reason != "" {
			t.Errorf("%s: its default: %s", p.Name, reason)
		}
	}
	for _, k := range settings.Keys() {
		switch k.Name {
		// What a spoke has, the stack's name, and what only says which clusters AccessClusters is without.
		case settings.SpokeTemplate, settings.Organization, settings.StackName, settings.ConfigMapClusters:
			continue
		}
		if !names[name(k.Name)] {
			t.Errorf("the setting %s has no parameter", k.Name)
		}
	}
	if len(names) > 200 {
		t.Errorf("%d parameters; CloudFormation takes 200", len(names))
	}
}

func TestLists(t *testing.T) {
	got, err := valuesOf(t, map[string]any{
		"slackChannel": "C0123456789", "clusters": "prod,dev,222233334444/eu-west-1/far", "configMapClusters": "dev",
		"cleanup": "prod=dry-run,222233334444/eu-west-1/far=delete", "cleanupUntagged": "vpc-0a1b2c3d", "remedies": "prod/replace-instance=auto,222233334444/eu-west-1/far=approve",
		"spokes": "222233334444/eu-west-1=payments,333344445555/us-west-2", "externalId": "rollcall-7f3a",
		"targets": "sns,pagerduty=rollcall/pagerduty,sns=arn:aws:sns:us-west-2:111122223333:mine", "relays": "prod,222233334444/eu-west-1/far",
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		AccessClusters: "prod", ClusterRoleClusters: "dev,prod", InterfaceClusters: "prod", InterfaceVPCs: "vpc-0a1b2c3d", ReplaceClusters: "prod", RouteClusters: "",
		SpokeAccounts:        "222233334444,333344445555",
		SpokeReaderRoles:     "arn:aws:iam::222233334444:role/rollcall-reader-eu-west-1,arn:aws:iam::333344445555:role/rollcall-reader-us-west-2",
		SpokeCleanerRoles:    "arn:aws:iam::222233334444:role/rollcall-cleaner-eu-west-1",
		SpokeRemediatorRoles: "arn:aws:iam::222233334444:role/rollcall-remediator-eu-west-1",
		TargetSecrets:        "rollcall/pagerduty", TargetTopics: "arn:aws:sns:us-west-2:111122223333:mine", MakeTargetTopic: "on", RelayFunctions: "rollcall-relay-prod",
	}
	for name, value := range want {
		if diff := cmp.Diff(value, got[name]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// What the template cannot have is refused by the setting's name.
func TestUnsupported(t *testing.T) {
	var many []string
	for n := range MostAccessEntries + 1 {
		many = append(many, "c"+strings.Repeat("x", n+1))
	}
	for _, test := range []struct{ key, value, reason string }{
		{"joinTime", "90s", `"90s" is none of 1m, 2m`},
		{"clusters", strings.Join(many, ","), "does not accept this list of 41"},
		{"linkHosts", noise(6000), "characters too many for a function's environment"},
	} {
		_, err := valuesOf(t, map[string]any{"slackChannel": "C0123456789", test.key: test.value})
		var wrong *Unsupported
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), test.reason) {
			t.Errorf("%s=%s: %v, want %q", test.key, test.value, err, test.reason)
		}
	}
}

// noise is a list that gets no shorter.
func noise(length int) string {
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for b.Len() < length {
		fmt.Fprintf(&b, "%x.example.com,", r.Uint64())
	}
	return strings.TrimSuffix(b.String(), ",")
}

// Long lists are packed, as functions read them too.
func TestPack(t *testing.T) {
	var clusters []string
	for n := range 200 {
		clusters = append(clusters, fmt.Sprintf("production-cluster-%03d", n))
	}
	text := strings.Join(clusters, ",")
	got, err := valuesOf(t, map[string]any{"slackChannel": "C0123456789", "clusters": text, "accessClusters": "prod"})
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := config.Unpack(got["Clusters"]); err != nil || plain != text || len(got["Clusters"]) > 1000 {
		t.Errorf("%s: %v", got["Clusters"], err)
	}
}

// The page has the bounds that the table has.
func TestPageHasTheBounds(t *testing.T) {
	page := string(testfile.Read(t, "../../../docs/standard.md"))
	for _, row := range []string{
		fmt.Sprintf("| `AccessClusters` | %d clusters |", MostAccessEntries),
		fmt.Sprintf("| the clusters of each remedy and of the clean-up | %d clusters |", MostClusters),
		fmt.Sprintf("| `RemedyVpcs`, `CleanupUntagged` | %d VPCs |", MostVPCs),
		fmt.Sprintf("| `RemedyRoles`, `AutoModeLogs` | %d characters each |", ByName(RemedyRoles).Longest),
		fmt.Sprintf("| `AutoModeLogs` | %d log groups |", MostLogGroups),
		fmt.Sprintf("| `VpcSubnetIds` | %d subnets |", MostSubnets),
		fmt.Sprintf("| `TargetSecrets` | %d secrets |", MostTargetSecrets),
		fmt.Sprintf("| `RelayFunctions` | %d relays |", MostRelays),
		fmt.Sprintf("| `TargetEmail` | %d addresses |", MostEmails),
	} {
		if !strings.Contains(page, row) {
			t.Errorf("the page has no row %s", row)
		}
	}
}
