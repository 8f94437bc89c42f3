// Command site writes the generated pages of the documentation, and holds the site that
// docs/site makes of all of them.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"io/fs"
	"net/url"
	"os"
	"os/signal"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"rollcall/infra/specs"
	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/diagnosis"
	"rollcall/shared/gather"
	"rollcall/shared/incident"
	"rollcall/shared/incident/reconcile"
	"rollcall/shared/report"
	"rollcall/shared/slack"
	"rollcall/stage/examine"
	"rollcall/stage/program"
	"rollcall/stage/simaws/worldfile"
	"rollcall/tools/site/page"
)

const usage = `Run it from the repository's root.

  go run ./tools/site generate           write the pages that follow from the code
  go run ./tools/site check build/site   see whether each link of the built site leads somewhere
  go run ./tools/site launch BUCKET VERSION REGION…
                                         write the Launch Stack links of a release into the pages, or
                                         remove them if BUCKET or VERSION is empty
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	switch args := os.Args[1:]; {
	case len(args) == 1 && args[0] == "generate":
		err = write(ctx)
	case len(args) == 2 && args[0] == "check":
		err = check("docs", args[1])
	case len(args) >= 3 && args[0] == "launch":
		err = writeLaunch(args[1], args[2], args[3:])
	default:
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

// write writes the pages of the checks, with what is posted about a world of each, and of
// the command, the roles, the alarms, and what texts mean.
func write(ctx context.Context) error {
	checks, worlds, err := checksIn(".")
	if err != nil {
		return err
	}
	examples := make([]string, len(checks.List))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.NumCPU())
	for i, c := range checks.List {
		g.Go(func() error {
			e, found, err := exampleOf(ctx, c.ID, worlds[c.ID])
			if err != nil {
				return fmt.Errorf("%s: %w", c.ID, err)
			}
			examples[i] = page.ExampleSection(c, e, found)
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	pages, err := pagesOf(".", checks, func(i int) (string, error) { return examples[i], nil })
	if err != nil {
		return err
	}
	// A check that is gone has no page.
	if err := os.RemoveAll("docs/checks"); err != nil {
		return err
	}
	for name, text := range pages {
		file := filepath.Join("docs", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// checksIn is what the pages of the checks are made of, and the broken worlds of each; root
// is the repository.
func checksIn(root string) (page.Checks, map[checkid.ID][]string, error) {
	broken, all, err := worldsOf(filepath.Join(root, "stage/worlds/corpus"))
	return page.Checks{List: checks.All(), Permissions: gather.Permissions, Worlds: all}, broken, err
}

// pasted are the files of texts that people met.
func pasted() []string {
	return []string{"shared/node/text/testdata/known.json", "shared/node/text/testdata/heldout.json", "shared/node/text/testdata/heldout-2.json",
		"shared/node/text/testdata/heldout-3.json", "shared/node/text/testdata/heldout-4.json"}
}

// extraRoles are the roles that are not a function's own, as the templates have them.
func extraRoles(root string) ([]page.Extra, error) {
	list := []page.Extra{
		{Title: "reader of the hub", Role: "ReaderRole", About: "`rollcall-reader-REGION` reads in the watched clusters: each cluster's access entry names it, so that no function has access of its own. In AWS it can only invoke relays. The stack makes it."},
		{Title: "reader of a spoke", Role: "ReaderRole", About: "`rollcall-reader-REGION` of another account or region: what the hub's functions read there, and who its clusters' access entries name. Describe and List calls cannot be limited to a cluster. The spoke's template makes it."},
		{Title: "forwarder of a spoke", Role: "ForwardRole", About: "EventBridge sends the spoke's events to the hub's bus by it. The spoke's template makes it."},
		{Title: "cleaner and remediator of a spoke", About: "`rollcall-cleaner-REGION` and `rollcall-remediator-REGION`, only in a template that was made for that spoke (`make spoke-template SPOKE=…`), and only if one of its clusters opted in by `cleanup` or `remedies`. Their statements and conditions are those of [eni-cleanup](#eni-cleanup) and [remediate](#remediate) under \"only with\", for the clusters that opted in; the hub's function of that name assumes the role, with the external id, as it does the reader."},
		{Title: "relay", Role: "RelayRole", About: "The function in the VPC of a cluster with a private endpoint only. It writes its log; the rest is what Lambda itself needs to attach it to the subnets, and is denied to the function's own code. The relay's template makes it."},
	}
	const spoke = "infra/RollcallSpoke.template.json"
	for i, file := range []string{"infra/Rollcall.template.json", spoke, spoke, spoke, "infra/RollcallRelay.template.json"} {
		raw, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			return nil, fmt.Errorf("read the roles of %s: %w", file, err)
		}
		if err := json.Unmarshal(raw, &list[i].Template); err != nil {
			return nil, fmt.Errorf("read the roles of %s: %w", file, err)
		}
	}
	return list, nil
}

// pagesOf are all generated pages by their place below docs; exampleOf gives the example of
// the check at a place of the list.
func pagesOf(root string, p page.Checks, exampleOf func(i int) (string, error)) (map[string]string, error) {
	extra, err := extraRoles(root)
	if err != nil {
		return nil, err
	}
	rights, err := page.Rights(specs.All(), extra)
	if err != nil {
		return nil, fmt.Errorf("what each role may: %w", err)
	}
	pages := map[string]string{
		"checks/README.md": p.Index(),
		"permissions.md":   rights,
		"command.md":       page.Command(commands()),
		"compatibility.md": page.Compatibility(tagged(), page.Release{Name: "next release", Spoke: specs.SpokeDigest(specs.All()), Relay: specs.RelayDigest(), Samples: "1"}),
	}
	for i, c := range p.List {
		text, err := exampleOf(i)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.ID, err)
		}
		pages["checks/"+page.Path(c.ID)] = p.Check(c, text)
	}
	var texts []page.Pasted
	for _, file := range pasted() {
		raw, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			return nil, fmt.Errorf("read texts: %w", err)
		}
		list, err := page.ReadPasted(raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		texts = append(texts, list...)
	}
	codes, err := os.ReadFile(filepath.Join(root, "shared/node/text/testdata/codes.txt"))
	if err != nil {
		return nil, fmt.Errorf("read the codes: %w", err)
	}
	pages["texts.md"] = p.Texts(texts, slices.Concat(page.ReadCodes(string(codes)), page.IssueCodes()))
	template, err := os.ReadFile(filepath.Join(root, "infra/Rollcall.template.json"))
	if err != nil {
		return nil, fmt.Errorf("read the template: %w", err)
	}
	pages["alarms.md"], err = page.Alarms(template)
	return pages, err
}

// tagged are the releases, the oldest first. Who tags one adds what the page says of the next
// release, under its tag, and begins the next samples.
func tagged() []page.Release { return nil }

// commands are the command line, with what only rollcall-stage has.
func commands() *cobra.Command { return program.Root("rollcall") }

// worldsOf are the paths of the worlds that are broken in the way of each check, in the
// order in which they are tried: the plain one first. All counts the healthy ones too.
func worldsOf(corpus string) (broken map[checkid.ID][]string, all map[checkid.ID]int, err error) {
	paths, err := filepath.Glob(filepath.Join(corpus, "*.yaml"))
	if err != nil {
		return nil, nil, fmt.Errorf("list the worlds: %w", err)
	}
	broken, all = map[checkid.ID][]string{}, map[checkid.ID]int{}
	for _, path := range paths {
		if filepath.Base(path) == "unseen.yaml" { // the reports that no world shows
			continue
		}
		file, err := worldfile.Load(path)
		if err != nil {
			return nil, nil, fmt.Errorf("read %s: %w", path, err)
		}
		if file.Check == "" {
			continue
		}
		id := checkid.ID(file.Check)
		all[id]++
		if !file.Expect.Healthy || len(file.Expect.Advice) > 0 {
			broken[id] = append(broken[id], path)
		}
	}
	for id, list := range broken {
		plainest := strings.ReplaceAll(string(id), "/", "-") + ".yaml"
		slices.SortStableFunc(list, func(a, b string) int { return order(a, plainest) - order(b, plainest) })
	}
	return broken, all, nil
}

func order(path, plainest string) int {
	if filepath.Base(path) == plainest {
		return 0
	}
	return 1
}

// exampleOf is what is said of a check in the first of its worlds in which it is the cause of an
// incident; else in the first that reports it at all. It is false where none does.
func exampleOf(ctx context.Context, id checkid.ID, worlds []string) (page.Example, bool, error) {
	var second *page.Example
	for _, path := range worlds {
		e, err := exampleIn(ctx, id, path)
		if err != nil {
			return page.Example{}, false, fmt.Errorf("%s: %w", path, err)
		}
		switch {
		case e.Shown == page.Posted:
			return e, true, nil
		case e.Shown != "" && second == nil:
			second = &e
		}
	}
	if second == nil {
		return page.Example{}, false, nil
	}
	return *second, true, nil
}

// exampleIn is what is said of a check in a world; Shown is empty where nothing is.
func exampleIn(ctx context.Context, id checkid.ID, path string) (page.Example, error) {
	file, err := worldfile.Load(path)
	if err != nil {
		return page.Example{}, fmt.Errorf("read the world: %w", err)
	}
	seen, err := examine.Observe(ctx, path, io.Discard)
	if err != nil {
		return page.Example{}, fmt.Errorf("look at the world: %w", err)
	}
	e := page.Example{World: file.Name, About: file.About}
	if inc, shown := incidentOf(seen, id); shown != "" {
		e.Shown = shown
		e.Message, err = page.Markdown(slack.Render(inc, slack.Options{}).Blocks)
		return e, err
	}
	for _, o := range seen {
		for _, c := range o.Diagnosis.Causes {
			if c.Check == id {
				e.Shown, e.Message = page.Advised, advice(c)
				return e, nil
			}
		}
	}
	return e, nil
}

// advice is a cause as rollcall diagnose prints it.
func advice(c diagnosis.Cause) string {
	text := "<b>" + page.Escape(c.Title) + "</b>\n\n" + page.Escape(c.Why) + "\n"
	if c.Fix.Text != "" {
		text += "\n<b>Do</b> " + page.Escape(c.Fix.Text) + "\n"
	}
	if c.Fix.Command != "" {
		text += "\n```text\n" + c.Fix.Command + "\n```\n"
	}
	return text
}

// policy is report's with the settings that it has by default.
func policy() incident.Policy {
	return incident.Policy{ProofTime: time.Hour, ReopenTime: 24 * time.Hour, RemindAfter: 30 * time.Minute, Channel: "C0123456789"}
}

// incidentOf is the open incident whose cause is the check, else one to whose cause it
// contributes.
func incidentOf(seen []report.Observation, id checkid.ID) (incident.Incident, page.Shown) {
	var known []incident.Incident
	for _, o := range seen {
		known = apply(known, o)
	}
	open := func(inc incident.Incident) bool { return inc.State == incident.Open }
	for _, inc := range known {
		if open(inc) && inc.Key.Check == id {
			return inc, page.Posted
		}
	}
	for _, inc := range known {
		if open(inc) && slices.Contains(inc.Cause.Contributing, id) {
			return inc, page.Beside
		}
	}
	return incident.Incident{}, ""
}

func apply(known []incident.Incident, o report.Observation) []incident.Incident {
	for _, d := range reconcile.Decide(known, o, o.At, policy()) {
		i := slices.IndexFunc(known, func(inc incident.Incident) bool { return inc.Key == d.Incident.Key })
		if i < 0 {
			known = append(known, d.Incident)
		} else {
			known[i] = d.Incident
		}
	}
	return known
}

// builtPage is a page of the built site.
type builtPage struct {
	ids   map[string]bool
	links []string // addresses that a reader may follow
	loads []string // addresses that a browser loads by itself
}

// builtSite is what stands in a folder.
type builtSite struct {
	Pages map[string]builtPage // by path: "/checks/index.html"
	files map[string]bool
}

var (
	id    = regexp.MustCompile(`\sid="([^"]+)"`)
	link  = regexp.MustCompile(`<a\s[^>]*?href="([^"]*)"`)
	loads = regexp.MustCompile(`<(?:script|img|iframe|video|source)\s[^>]*?src="([^"]*)"|<link\s[^>]*?href="([^"]*)"|url\(\s*['"]?([^'")]+)`)
)

// readBuilt reads a folder.
func readBuilt(folder string) (builtSite, error) {
	s := builtSite{Pages: map[string]builtPage{}, files: map[string]bool{}}
	err := filepath.WalkDir(folder, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(folder, file)
		if err != nil {
			return err
		}
		at := "/" + filepath.ToSlash(name)
		s.files[at] = true
		if kind := path.Ext(at); kind != ".html" && kind != ".css" {
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		s.Pages[at] = pageOf(string(text))
		return nil
	})
	if err != nil {
		return s, fmt.Errorf("read the built site: %w", err)
	}
	return s, nil
}

func pageOf(text string) builtPage {
	p := builtPage{ids: map[string]bool{}}
	for _, m := range id.FindAllStringSubmatch(text, -1) {
		p.ids[html.UnescapeString(m[1])] = true
	}
	for _, m := range link.FindAllStringSubmatch(text, -1) {
		p.links = append(p.links, html.UnescapeString(m[1]))
	}
	for _, m := range loads.FindAllStringSubmatch(text, -1) {
		p.loads = append(p.loads, html.UnescapeString(m[1]+m[2]+m[3]))
	}
	return p
}

// wrong returns each link that leads nowhere, and each thing that is loaded from
// another host: reading the site sends no request to another host. Count is of the links within.
func (s builtSite) wrong() (wrong []string, count int) {
	for at, p := range s.Pages {
		for _, to := range p.links {
			if external(to) {
				continue
			}
			count++
			if why := s.leads(at, to); why != "" {
				wrong = append(wrong, fmt.Sprintf("%s links to %s: %s", at, to, why))
			}
		}
		for _, to := range p.loads {
			switch {
			case strings.HasPrefix(to, "data:"), strings.HasPrefix(to, "#"):
			case external(to):
				wrong = append(wrong, fmt.Sprintf("%s loads %s from elsewhere", at, to))
			default:
				if why := s.leads(at, to); why != "" {
					wrong = append(wrong, fmt.Sprintf("%s loads %s: %s", at, to, why))
				}
			}
		}
	}
	slices.Sort(wrong)
	return slices.Compact(wrong), count
}

func external(to string) bool {
	u, err := url.Parse(to)
	return err == nil && (u.Scheme != "" || u.Host != "")
}

// leads is why a link leads nowhere; empty where it leads somewhere.
func (s builtSite) leads(from, to string) string {
	u, err := url.Parse(to)
	if err != nil {
		return err.Error()
	}
	at := from
	if u.Path != "" {
		at = u.Path
		if !strings.HasPrefix(at, "/") {
			at = path.Join(path.Dir(from), at)
			if strings.HasSuffix(u.Path, "/") {
				at += "/"
			}
		}
		if strings.HasSuffix(at, "/") {
			at += "index.html"
		}
	}
	if !s.files[at] {
		return "there is no such file"
	}
	if u.Fragment != "" && path.Ext(at) == ".html" && !s.Pages[at].ids[u.Fragment] {
		return "the page has no such heading"
	}
	return ""
}

// check holds the built site: each page of docs is there, each link within it leads to a
// page and a heading, and nothing is loaded from elsewhere.
func check(docs, folder string) error {
	s, err := readBuilt(folder)
	if err != nil {
		return err
	}
	wrong, links := s.wrong()
	pages := 0
	err = filepath.WalkDir(docs, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path == filepath.Join(docs, "site"):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".md":
			return nil
		}
		at := strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(path), docs), ".md") + ".html"
		if name := strings.TrimSuffix(at, "README.html"); name != at {
			at = name + "index.html"
		}
		pages++
		if _, there := s.Pages[at]; !there {
			wrong = append(wrong, path+" is not in the site")
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(wrong) > 0 {
		return fmt.Errorf("%d faults:\n%s", len(wrong), strings.Join(wrong, "\n"))
	}
	fmt.Printf("%d pages, %d links within the site, all lead somewhere; nothing is loaded from elsewhere\n", pages, links)
	return nil
}
