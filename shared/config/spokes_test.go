package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/remedy/optin"
	"rollcall/shared/spec"
	"rollcall/shared/spoke"
)

var (
	payments = spoke.ID{Account: "222233334444", Region: "us-west-2"}
	europe   = spoke.ID{Account: "222233334444", Region: "eu-west-1"}
)

func loaded(t *testing.T, env map[string]string) Config {
	t.Helper()
	c, err := load(env)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func load(env map[string]string) (Config, error) {
	all := map[string]string{"AWS_REGION": "us-west-2", "ROLLCALL_ACCOUNT": "111122223333", "ROLLCALL_EXTERNAL_ID": "rollcall-1", "ROLLCALL_ROLE_PREFIX": "rollcall"}
	for k, v := range env {
		all[k] = v
	}
	return Load(func(name string) string { return all[name] }, append(SpokeVariables(), Clusters, Cleanup, Remedies, Routes))
}

// TestANameIsTheHubsOwn: what the settings say of a cluster by its name alone is of the
// hub's own cluster, never of another account's of the same name.
func TestANameIsTheHubsOwn(t *testing.T) {
	c := loaded(t, map[string]string{
		"ROLLCALL_SPOKES":   "222233334444/us-west-2=payments,222233334444/eu-west-1",
		"ROLLCALL_CLUSTERS": "prod,222233334444/us-west-2/prod,222233334444/us-west-2/dev",
		"ROLLCALL_CLEANUP":  "prod=delete,222233334444/us-west-2/prod=dry-run",
		"ROLLCALL_REMEDIES": "prod=auto,prod/create-access-entry=approve,222233334444/us-west-2/prod/add-nat-route=approve,222233334444/eu-west-1/dev=off",
		"ROLLCALL_ROUTES":   "prod=C0PROD00001,222233334444/us-west-2/prod/critical=C0PAY000001,222233334444/eu-west-1/all=C0EU0000001,all=C0ALL000001",
	})
	type chosen struct {
		Clusters []string
		Cleanup  CleanupMode
		Remedy   optin.Policy
		Routes   []string
		Region   string
	}
	got := map[string]chosen{}
	for _, id := range []spoke.ID{{}, payments, europe} {
		in := c.In(id)
		o := chosen{Clusters: in.Clusters, Cleanup: in.CleanupOf("prod"), Remedy: in.RemedyOf("prod", optin.AddNATRoute), Region: in.Region}
		for _, r := range in.Routes {
			o.Routes = append(o.Routes, r.Channel)
		}
		got[id.String()] = o
	}
	want := map[string]chosen{
		"":                       {[]string{"prod"}, Delete, optin.Auto, []string{"C0PROD00001", "C0ALL000001"}, "us-west-2"},
		"222233334444/us-west-2": {[]string{"dev", "prod"}, DryRun, optin.Approve, []string{"C0PAY000001", "C0ALL000001"}, "us-west-2"},
		"222233334444/eu-west-1": {nil, Report, optin.Off, []string{"C0EU0000001", "C0ALL000001"}, "eu-west-1"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestWhose: a name is said where there is something to tell apart.
func TestWhose(t *testing.T) {
	for spokes, want := range map[string][]string{
		"none":                            {""},
		"111122223333/us-west-2=platform": {"platform"},
		"222233334444/us-west-2=payments": {"111122223333", "payments"},
		"222233334444/us-west-2":          {"111122223333", "222233334444"},
		"111122223333/us-west-2=platform,222233334444/us-west-2=payments,222233334444/eu-west-1=payments": {"platform, us-west-2", "payments, eu-west-1", "payments, us-west-2"},
	} {
		c := loaded(t, map[string]string{"ROLLCALL_SPOKES": spokes})
		got := []string{c.In(spoke.ID{}).Whose()}
		for _, s := range c.Others() {
			got = append(got, c.In(s.ID).Whose())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", spokes, diff)
		}
	}
}

// TestWhoseByAlias: an alias is said where the settings give no name, and where nobody can
// take it for another account.
func TestWhoseByAlias(t *testing.T) {
	shop := spoke.ID{Account: "222233334444", Region: "us-west-2"}
	for name, x := range map[string]struct {
		spokes, alias, want string
		of                  spoke.ID
		wants               bool
	}{
		"the hub alone":                   {"none", "acme", "", spoke.ID{}, false},
		"the hub alone, named":            {"111122223333/us-west-2=platform", "acme", "platform", spoke.ID{}, false},
		"the settings' name":              {"222233334444/us-west-2=payments", "acme", "payments", shop, false},
		"the alias":                       {"222233334444/us-west-2", "acme-2", "acme-2", shop, true},
		"the hub's own":                   {"222233334444/us-west-2", "acme", "acme", spoke.ID{}, true},
		"with the region":                 {"222233334444/us-west-2,222233334444/eu-west-1", "acme", "acme, us-west-2", shop, true},
		"one region is named":             {"222233334444/us-west-2,222233334444/eu-west-1=acme", "acme", "acme, us-west-2", shop, true},
		"none":                            {"222233334444/us-west-2", "", "222233334444", shop, true},
		"with its own number":             {"222233334444/us-west-2", "acme-222233334444", "acme-222233334444", shop, true},
		"the number of another":           {"222233334444/us-west-2", "111122223333", "222233334444", shop, true},
		"the number of another, and more": {"222233334444/us-west-2", "111122223333-prod", "222233334444", shop, true},
		"both numbers":                    {"222233334444/us-west-2", "222233334444-111122223333", "222233334444", shop, true},
		"digits":                          {"222233334444/us-west-2", "2026", "2026", shop, true},
		"the name of another":             {"222233334444/us-west-2,333344445555/us-west-2=Acme", "acme", "222233334444", shop, true},
		"the name of the hub":             {"111122223333/us-west-2=acme,222233334444/us-west-2", "acme", "222233334444", shop, true},
		"no form of an alias":             {"222233334444/us-west-2", "<!channel>", "222233334444", shop, true},
		"capitals":                        {"222233334444/us-west-2", "Acme", "222233334444", shop, true},
		"two hyphens":                     {"222233334444/us-west-2", "ac--me", "222233334444", shop, true},
		"too short":                       {"222233334444/us-west-2", "ac", "222233334444", shop, true},
		"too long":                        {"222233334444/us-west-2", strings.Repeat("a", 64), "222233334444", shop, true},
		"the longest":                     {"222233334444/us-west-2", strings.Repeat("a", 63), strings.Repeat("a", 63), shop, true},
	} {
		c := loaded(t, map[string]string{"ROLLCALL_SPOKES": x.spokes}).In(x.of)
		if got := c.WhoseBy(x.alias); got != x.want || c.WantsAlias() != x.wants {
			t.Errorf("%s: it is %q, and the alias is wanted: %t; want %q, %t", name, got, c.WantsAlias(), x.want, x.wants)
		}
	}
}

func TestSpokesRefused(t *testing.T) {
	for spokes, says := range map[string]string{
		"payments":                          "twelve digits",
		"222233334444":                      "twelve digits",
		"222233334444/us-west-2=":           "is not a name",
		"222233334444/us-west-2=<!channel>": "is not a name",
		"222233334444/us-west-2,222233334444/us-west-2=x": "named twice",
	} {
		if _, err := load(map[string]string{"ROLLCALL_SPOKES": spokes}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", spokes, err, says)
		}
	}
	for env, says := range map[[2]string]string{
		{"ROLLCALL_EXTERNAL_ID", "none"}:                          "is wanted where there are spokes",
		{"ROLLCALL_EXTERNAL_ID", "short"}:                         "8 to 1224",
		{"ROLLCALL_REMEDIES", "222233334444/prod=auto"}:           "is not a remedy",
		{"ROLLCALL_CLEANUP", "222233334444/*/prod=delete"}:        "is not a cluster name",
		{"ROLLCALL_ROUTES", "222233334444/us-west/prod=C0A12345"}: "neither a severity",
	} {
		if _, err := load(map[string]string{"ROLLCALL_SPOKES": "222233334444/us-west-2", env[0]: env[1]}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: %v, want %q", env, err, says)
		}
	}
}

func TestSpokeRoleARN(t *testing.T) {
	c := loaded(t, nil)
	for id, want := range map[spoke.ID]string{
		payments: "arn:aws:iam::222233334444:role/rollcall-remediator-us-west-2",
		{Account: "222233334444", Region: "us-gov-west-1"}: "arn:aws-us-gov:iam::222233334444:role/rollcall-remediator-us-gov-west-1",
	} {
		if got := c.In(id).SpokeRole(spec.SpokeRemediator); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
