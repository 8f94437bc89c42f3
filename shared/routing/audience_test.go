package routing

import (
	"strings"
	"testing"

	"rollcall/tools/testfile"

	"github.com/google/go-cmp/cmp"
)

func routes(t *testing.T, text string) []Route {
	t.Helper()
	list, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestOf(t *testing.T) {
	const text = "prod/critical=C0PAGES@S0ONCALL,prod/team:payments=C0PAY@U0DANA+here,all/team:payments/tier:one=C0ONE," +
		"dev=C0DEV,all/critical=@here"
	payments := map[string]map[string]string{"a": {"team": "payments", "tier": "two"}, "b": {"team": "search", "tier": "one"}}
	for name, test := range map[string]struct {
		subject Subject
		channel string
		called  string
	}{
		"nothing fits":                       {Subject{Cluster: "stage", Severity: "warning"}, "C0USUAL", ""},
		"severity":                           {Subject{Cluster: "prod", Severity: "critical"}, "C0PAGES", "S0ONCALL"},
		"the first channel wins":             {Subject{Cluster: "prod", Severity: "critical", Tags: payments}, "C0PAGES", "S0ONCALL"},
		"tag of one nodegroup":               {Subject{Cluster: "prod", Severity: "warning", Tags: payments}, "C0PAY", "U0DANA here"},
		"tags of two nodegroups are not one": {Subject{Cluster: "stage", Severity: "warning", Tags: payments}, "C0USUAL", ""},
		"another value":                      {Subject{Cluster: "prod", Severity: "warning", Tags: map[string]map[string]string{"a": {"team": "pay"}}}, "C0USUAL", ""},
		"channel and people by two routes":   {Subject{Cluster: "dev", Severity: "critical"}, "C0DEV", "here"},
		"people alone":                       {Subject{Cluster: "stage", Severity: "critical"}, "C0USUAL", "here"},
		"a name that begins the same":        {Subject{Cluster: "dev2", Severity: "info"}, "C0USUAL", ""},
	} {
		channel, called := Recipients(test.subject, routes(t, text), "C0USUAL")
		if channel != test.channel || strings.Join(called, " ") != test.called {
			t.Errorf("%s: %s and %q, want %s and %q", name, channel, called, test.channel, test.called)
		}
	}
	if diff := cmp.Diff([]string{"team", "tier"}, TagKeys(routes(t, text))); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}

// Who is called decides who is called last.
func TestEscalation(t *testing.T) {
	const text = "prod/critical=C0PAGES@S0ONCALL@S0LEADS+U0BOSS,prod=C0PROD@U0DANA,all=@here@S0OTHERS"
	for name, test := range map[string]struct {
		subject Subject
		want    string
	}{
		"the route of those who are called":        {Subject{Cluster: "prod", Severity: "critical"}, "S0LEADS U0BOSS"},
		"not that of a route behind it":            {Subject{Cluster: "prod", Severity: "warning"}, ""},
		"a route that names people and no channel": {Subject{Cluster: "dev", Severity: "critical"}, "S0OTHERS"},
	} {
		if got := strings.Join(Escalation(test.subject, routes(t, text)), " "); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestParse(t *testing.T) {
	got := routes(t, "prod/critical/kubernetes.io%2Frole:a%3Ab%2C%20c/team:=C0PAGES@U0A+U0A+here, all=D01")
	want := []Route{
		{Cluster: "prod", Severity: "critical", Tags: []Tag{{"kubernetes.io/role", "a:b, c"}, {"team", ""}}, Channel: "C0PAGES", Mentions: []string{"U0A", "here"}},
		{Channel: "D01"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("routes (-want +got):\n%s", diff)
	}
	if none, err := Parse("none"); err != nil || none != nil {
		t.Errorf("none gave %v, %v", none, err)
	}
}

func TestParseSaysWhatIsWrong(t *testing.T) {
	for text, says := range map[string]string{
		"":                          "want the form",
		"prod":                      "want the form",
		"prod=":                     "neither a channel",
		"prod=#alerts":              "not a channel's id",
		"prod=C01@":                 "not the id of a user",
		"prod=C01@oncall":           "not the id of a user",
		"prod=C01@channel":          "not the id of a user",
		"prod=C01@@S0LEADS":         "not the id of a user",
		"prod=C01@U0A@":             "not the id of a user",
		"prod=C01@U0A@U0B@U0C":      "not the id of a user",
		"=C01":                      "neither a cluster's name",
		"pr*=C01":                   "neither a cluster's name",
		"critical=C01,prod/hot=C02": "severity",
		"prod/critical/info=C01":    "two severities",
		"prod/:x=C01":               "no tag",
		"prod/a%:x=C01":             "%25",
		"prod=C01,":                 "want the form",
		strings.Repeat("a", 2001):   "2001 characters",
	} {
		if got, err := Parse(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q gave %v, %v; want an error that says %q", text, got, err, says)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"none", "prod/critical=C0PAGES@S0ONCALL+here", "all/team:payments=@U0DANA", "a/%2F:%2C=C01,b=@here", "x/y/z=", "=@", "a/:=C01",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := Parse(text)
		if err != nil {
			return
		}
		for _, r := range list {
			if r.Channel == "" && len(r.Mentions) == 0 {
				t.Errorf("%q has a route without a target: %+v", text, r)
			}
			tags := map[string]string{}
			for _, tag := range r.Tags {
				if known, twice := tags[tag.Key]; twice && known != tag.Value {
					return // no nodegroup has both
				}
				tags[tag.Key] = tag.Value
			}
			cluster := r.Cluster
			if cluster == "" {
				cluster = "any"
			}
			if !r.fits(Subject{Cluster: cluster, Severity: r.Severity, Tags: map[string]map[string]string{"a": tags}}) {
				t.Errorf("%q: nothing fits %+v", text, r)
			}
		}
	})
}

// The example that people copy is one.
func TestDocumentedExample(t *testing.T) {
	page := testfile.Read(t, "../../docs/routes.md")
	_, rest, _ := strings.Cut(string(page), "```\n")
	example, _, _ := strings.Cut(rest, "\n")
	if got := routes(t, example); len(got) != 4 {
		t.Errorf("%q has %d routes, want 4", example, len(got))
	}
}
