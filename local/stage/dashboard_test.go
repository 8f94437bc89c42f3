package stage

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
)

// dashboardReads holds that each of the dashboard's queries of logs finds its lines, with
// the fields that it names, among what the functions logged.
func (r *running) dashboardReads(most int) {
	r.t.Helper()
	queries := r.dashboardQueries()
	if len(queries) != most {
		r.t.Errorf("the dashboard has %d queries of logs, want %d", len(queries), most)
	}
	argument, groups := regexp.MustCompile(`\(([a-z]\w*)\s*[,)]`), regexp.MustCompile(` by ([a-z, ]+?)( \||$)`)
	for _, text := range queries {
		m := regexp.MustCompile(`^((?:SOURCE '/aws/lambda/rollcall-[a-z-]+' \| )+)filter msg = "([^"]+)" \| `).FindStringSubmatch(text)
		if m == nil {
			r.t.Errorf("a query that is not understood: %s", text)
			continue
		}
		var fields []string
		for _, f := range argument.FindAllStringSubmatch(text, -1) {
			fields = append(fields, f[1])
		}
		if by := groups.FindStringSubmatch(text); by != nil {
			fields = append(fields, strings.Split(by[1], ", ")...)
		}
		if len(fields) == 0 || !r.hasLogged(regexp.MustCompile(`rollcall-([a-z-]+)`).FindAllStringSubmatch(m[1], -1), m[2], fields) {
			r.t.Errorf("%s no function logged a line %q with %q", m[1], m[2], fields)
		}
	}
}

// dashboardQueries are those of the template.
func (r *running) dashboardQueries() (list []string) {
	r.t.Helper()
	source, err := os.ReadFile("../../infra/Rollcall.template.json")
	if err != nil {
		r.t.Fatal(err)
	}
	var template struct {
		Resources map[string]struct {
			Type       string
			Properties struct {
				DashboardBody struct {
					Join []json.RawMessage `json:"Fn::Join"`
				}
			}
		}
	}
	if err := json.Unmarshal(source, &template); err != nil {
		r.t.Fatal(err)
	}
	for _, x := range template.Resources {
		if x.Type != "AWS::CloudWatch::Dashboard" {
			continue
		}
		var parts []any
		if err := json.Unmarshal(x.Properties.DashboardBody.Join[1], &parts); err != nil {
			r.t.Fatal(err)
		}
		var body strings.Builder
		for _, p := range parts {
			text, ok := p.(string)
			if !ok {
				text = "x" // what CloudFormation fills in
			}
			body.WriteString(text)
		}
		var dashboard struct {
			Widgets []struct {
				Type       string
				Properties struct{ Query string }
			}
		}
		if err := json.Unmarshal([]byte(body.String()), &dashboard); err != nil {
			r.t.Fatal(err)
		}
		for _, w := range dashboard.Widgets {
			if w.Type == "log" {
				list = append(list, w.Properties.Query)
			}
		}
	}
	return list
}

// hasLogged tells that one of the functions logged such a line.
func (r *running) hasLogged(functions [][]string, msg string, fields []string) bool {
	for line := range strings.Lines(r.out.String()) {
		// Before it stand the time and whose log group it is in.
		head, line, _ := strings.Cut(line, "{")
		in := func(f []string) bool { return strings.HasSuffix(head, " rollcall-"+f[1]+" ") }
		var values map[string]any
		if json.Unmarshal([]byte("{"+line), &values) != nil || values["msg"] != msg || !slices.ContainsFunc(functions, in) {
			continue
		}
		if !slices.ContainsFunc(fields, func(f string) bool { return values[f] == nil }) {
			return true
		}
	}
	return false
}
