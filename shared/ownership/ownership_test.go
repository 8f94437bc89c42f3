package ownership

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/config"
	"rollcall/shared/report"
	"rollcall/shared/spec"
	"rollcall/shared/spoke"
)

func parsed(t *testing.T, tags, hosts, owners string) Settings {
	t.Helper()
	names, err := ParseTags(tags)
	if err != nil {
		t.Fatal(err)
	}
	allowed, err := ParseHosts(hosts)
	if err != nil {
		t.Fatal(err)
	}
	fixed, err := ParseOwners(owners)
	if err != nil {
		t.Fatal(err)
	}
	return Settings{Names: names, Hosts: allowed, Fixed: fixed}
}

func tagged(pairs ...string) []report.Tagged {
	tags := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		tags[pairs[i]] = pairs[i+1]
	}
	return []report.Tagged{{Kind: Nodegroup, Name: "workers", Tags: tags}}
}

// Whoever can tag a subnet can put any address there: none becomes a link that its host
// is not allowed, whatever a browser would make of it.
func TestAnAddressOfATagIsNoLinkByItself(t *testing.T) {
	settings := parsed(t, config.DefaultOwnerTags, "wiki.example.com,*.grafana.net", "none")
	for name, address := range map[string]string{
		"another host":               "https://evil.example/wiki.example.com",
		"a host that begins so":      "https://wiki.example.com.evil.example/",
		"a host that ends so":        "https://evilwiki.example.com/",
		"the bare domain of a star":  "https://grafana.net/",
		"a host that ends as a star": "https://evilgrafana.net/",
		"a user before the host":     "https://wiki.example.com@evil.example/",
		"a user of the host":         "https://admin:secret@wiki.example.com/",
		"a backslash":                `https://evil.example\.wiki.example.com/`,
		"no encryption":              "http://wiki.example.com/",
		"a script":                   "javascript:alert(1)",
		"data":                       "data:text/html,x",
		"no scheme":                  "//wiki.example.com/x",
		"a port":                     "https://wiki.example.com:8443/",
		"a line":                     "https://wiki.example.com/\nhttps://evil.example/",
		"a blank":                    "https://wiki.example.com/a b",
		"a look-alike letter":        "https://wiki.exаmple.com/",
		"turned text":                "https://wiki.example.com/\u202Emoc",
		"marks of a message":         "https://wiki.example.com/|<!channel>",
		"too long":                   "https://wiki.example.com/" + strings.Repeat("a", maxAddress),
		"a dot too many":             "https://wiki.example.com./",
		"nothing behind it":          "https://",
	} {
		got := settings.Decide(tagged("runbook", address), spoke.Cluster{Name: "prod"})
		for _, v := range got {
			if v.URL != "" {
				t.Errorf("%s: %q is a link to %q", name, address, v.URL)
			}
			if len([]rune(v.Text)) > maxAddress || strings.ContainsAny(v.Text, "\n\u202E<>|") || strings.Contains(v.Text, "://") {
				t.Errorf("%s: shown as %q", name, v.Text)
			}
		}
	}
}

func TestAnAddressOfAnAllowedHostIsALink(t *testing.T) {
	settings := parsed(t, config.DefaultOwnerTags, "wiki.example.com,*.grafana.net", "none")
	for address, text := range map[string]string{
		"https://wiki.example.com/prod?x=1#nodes": "wiki.example.com/prod?x=1#nodes",
		"https://WIKI.example.com/":               "WIKI.example.com/",
		"https://ops.grafana.net/d/abc":           "ops.grafana.net/d/abc",
	} {
		want := Owner{{Field: Runbook, Text: text, URL: address, From: Nodegroup}}
		if diff := cmp.Diff(want, settings.Decide(tagged("runbook", address), spoke.Cluster{Name: "prod"})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", address, diff)
		}
	}
}

func TestANameIsTextAlone(t *testing.T) {
	settings := parsed(t, config.DefaultOwnerTags, "none", "none")
	for value, want := range map[string]string{
		"payments":                            "payments",
		" Pay\tments \n team ":                "Pay ments team",
		"<!channel> *bold*":                   "!channel bold",
		"\u202Esdrawkcab":                     "sdrawkcab",
		"see https://evil.example/":           "see evil.example/",
		strings.Repeat("x", 300):              strings.Repeat("x", maxName-1) + "…",
		"[press](https://evil.example) `now`": "press(evil.example) now",
		"dana@example.com":                    "dana@example.com",
	} {
		got := settings.Decide(tagged("team", value), spoke.Cluster{Name: "prod"})
		if diff := cmp.Diff(Owner{{Field: Team, Text: want, From: Nodegroup}}, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", value, diff)
		}
	}
	for _, value := range []string{"", "  ", "\u200b", "://"} {
		if got := settings.Decide(tagged("team", value), spoke.Cluster{Name: "prod"}); got != nil {
			t.Errorf("%q is an owner: %v", value, got)
		}
	}
}

func TestOf(t *testing.T) {
	near := func(kind Kind, name string, pairs ...string) report.Tagged {
		thing := tagged(pairs...)[0]
		thing.Kind, thing.Name = kind, name
		return thing
	}
	const hosts, owners = "wiki.example.com", "all/team=platform,prod/runbook=https://runbooks.example.org/prod,111122223333/eu-west-1/prod/team=payments"
	for name, test := range map[string]struct {
		things  []report.Tagged
		cluster spoke.Cluster
		want    Owner
	}{
		"the setting where no tag says it": {nil, spoke.Cluster{Name: "prod"},
			Owner{{Team, "platform", "", ""}, {Runbook, "runbooks.example.org/prod", "https://runbooks.example.org/prod", ""}}},
		"of the cluster of that account alone": {nil, spoke.Cluster{ID: spoke.ID{Account: "111122223333", Region: "eu-west-1"}, Name: "prod"},
			Owner{{Team, "payments", "", ""}}},
		"a tag comes before a setting": {[]report.Tagged{near(Subnet, "subnet-1", "Team", "network")}, spoke.Cluster{Name: "dev"},
			Owner{{Team, "network", "", Subnet}}},
		"the nearest comes first": {[]report.Tagged{near(Nodegroup, "workers", "owner", "shop"), near(Cluster, "dev", "team", "platform", "app.kubernetes.io/part-of", "store")}, spoke.Cluster{Name: "dev"},
			Owner{{Team, "shop", "", Nodegroup}, {Service, "store", "", Cluster}}},
		"two nodegroups, two teams": {[]report.Tagged{near(Nodegroup, "a", "team", "shop"), near(Nodegroup, "b", "team", "search"), near(Nodegroup, "c", "team", "shop")}, spoke.Cluster{Name: "dev"},
			Owner{{Team, "shop, search", "", Nodegroup}}},
		"many teams are a few and a count": {[]report.Tagged{near(Nodegroup, "a", "team", "a"), near(Nodegroup, "b", "team", "b"), near(Nodegroup, "c", "team", "c"), near(Nodegroup, "d", "team", "d"), near(Nodegroup, "e", "team", "e")}, spoke.Cluster{Name: "dev"},
			Owner{{Team, "a, b, c and 2 more", "", Nodegroup}}},
		"the name that is listed first": {[]report.Tagged{near(Nodegroup, "a", "owner", "dana", "team", "shop")}, spoke.Cluster{Name: "dev"},
			Owner{{Team, "shop", "", Nodegroup}}},
		"a link of a setting comes before an address that is none": {[]report.Tagged{near(Nodegroup, "a", "runbook", "https://evil.example/x")}, spoke.Cluster{Name: "prod"},
			Owner{{Team, "platform", "", ""}, {Runbook, "runbooks.example.org/prod", "https://runbooks.example.org/prod", ""}}},
		"an address that is no link is text": {[]report.Tagged{near(Nodegroup, "a", "dashboard", "https://evil.example/x")}, spoke.Cluster{Name: "dev"},
			Owner{{Team, "platform", "", ""}, {Dashboard, "evil.example/x", "", Nodegroup}}},
		"a link further away comes before an address that is none": {[]report.Tagged{near(Nodegroup, "a", "runbook", "https://evil.example/x"), near(Cluster, "dev", "runbook", "https://wiki.example.com/dev")}, spoke.Cluster{Name: "dev"},
			Owner{{Team, "platform", "", ""}, {Runbook, "wiki.example.com/dev", "https://wiki.example.com/dev", Cluster}}},
	} {
		if diff := cmp.Diff(test.want, parsed(t, config.DefaultOwnerTags, hosts, owners).Decide(test.things, test.cluster)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// What is wrong is an error of the setting that it is in.
func TestParse(t *testing.T) {
	texts := map[spec.Variable]string{config.OwnerTags: config.DefaultOwnerTags, config.Owners: "none", config.LinkHosts: "none"}
	if s, err := Parse(texts); err != nil || len(s.Names) != 4 {
		t.Errorf("%+v, %v", s, err)
	}
	for v := range texts {
		broken := maps.Clone(texts)
		broken[v] = "?"
		var wrong *config.SettingError
		if _, err := Parse(broken); !errors.As(err, &wrong) || wrong.Variable != v {
			t.Errorf("%s: %v", v, err)
		}
	}
}

func TestParseSaysWhatIsWrong(t *testing.T) {
	tags := func(text string) error { _, err := ParseTags(text); return err }
	hosts := func(text string) error { _, err := ParseHosts(text); return err }
	owners := func(text string) error { _, err := ParseOwners(text); return err }
	for _, test := range []struct {
		parse      func(string) error
		text, says string
	}{
		{tags, "team", "want the form"},
		{tags, "owner=team", "none of team, service, runbook, dashboard"},
		{tags, "team=", "1 to 128 characters"},
		{tags, "team=a,team=b", "twice"},
		{hosts, "https://wiki.example.com", "no name of a host"},
		{hosts, "wiki.example.com/x", "no name of a host"},
		{hosts, "*", "no name of a host"},
		{hosts, "*.com", "no name of a host"},
		{hosts, "wiki.example.com:443", "no name of a host"},
		{hosts, "", "no name of a host"},
		{owners, "prod=team", "want the form"},
		{owners, "prod/tema=x", "none of team"},
		{owners, "pr*d/team=x", "neither a cluster's name"},
		{owners, "prod/runbook=http://wiki.example.com", "https address"},
		{owners, "prod/team=%", "%25"},
		{owners, "prod/team=", "no text"},
	} {
		if err := test.parse(test.text); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%q gave %v, want an error that says %q", test.text, err, test.says)
		}
	}
}

func FuzzOf(f *testing.F) {
	f.Add("https://wiki.example.com/x", "payments")
	f.Add("https://wiki.example.com@evil.example/", "<!channel>")
	names, err := ParseTags(config.DefaultOwnerTags)
	if err != nil {
		f.Fatal(err)
	}
	settings := Settings{Names: names, Hosts: []string{"wiki.example.com"}}
	f.Fuzz(func(t *testing.T, address, team string) {
		for _, v := range settings.Decide(tagged("runbook", address, "team", team), spoke.Cluster{Name: "prod"}) {
			if v.URL != "" && !strings.HasPrefix(strings.ToLower(v.URL), "https://wiki.example.com") {
				t.Errorf("%q is a link to %q", address, v.URL)
			}
			if v.Text == "" || strings.Contains(v.Text, "://") || strings.ContainsAny(v.Text, "<>\n\r\u202E") {
				t.Errorf("%q and %q are shown as %q", address, team, v.Text)
			}
		}
	})
}

func TestMerge(t *testing.T) {
	team := func(text string, from Kind) Owner { return Owner{{Team, text, "", from}} }
	book := func(text, url string, from Kind) Owner { return Owner{{Runbook, text, url, from}} }
	for name, test := range map[string]struct{ known, newer, want Owner }{
		"nothing was known":                       {nil, team("shop", Cluster), team("shop", Cluster)},
		"a look that read less":                   {team("shop", Nodegroup), nil, team("shop", Nodegroup)},
		"a look that read only what is further":   {team("shop", Nodegroup), team("platform", Cluster), team("shop", Nodegroup)},
		"nearer":                                  {team("platform", Cluster), team("shop", Nodegroup), team("shop", Nodegroup)},
		"another value of the same kind":          {team("shop", Nodegroup), team("search", Nodegroup), team("search", Nodegroup)},
		"one nodegroup of two":                    {team("shop, search", Nodegroup), team("shop", Nodegroup), team("shop, search", Nodegroup)},
		"a setting that was changed":              {team("shop", ""), team("search", ""), team("search", "")},
		"a link stays where a nearer one is none": {book("w/x", "https://w/x", Cluster), book("e/x", "", Nodegroup), book("w/x", "https://w/x", Cluster)},
		"a link comes before a nearer text":       {book("e/x", "", Nodegroup), book("w/x", "https://w/x", ""), book("w/x", "https://w/x", "")},
		"fields of both":                          {team("shop", Nodegroup), book("w/x", "https://w/x", ""), append(team("shop", Nodegroup), book("w/x", "https://w/x", "")...)},
	} {
		if diff := cmp.Diff(test.want, test.known.Merge(test.newer)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
