// Package page writes what a diagnosis found as one HTML page without other parts:
// no script, no font and no picture is loaded, so that it can be attached to a ticket
// and read years later. The way from the subnets to each service is drawn as SVG.
package page

import (
	"cmp"
	_ "embed"
	"fmt"
	"html"
	"io"
	"slices"
	"strings"
	"time"

	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts/routes"
	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

// head is the page's, without its title.
//
//go:embed head.html
var head string

// Page is all that is on a page.
type Page struct {
	// Subject is what was checked: clusters, or a capture's name.
	Subject string
	// Account and Region are where it is: clusters in several have the same name.
	Account, Region string
	// Taken is when it was checked.
	Taken   time.Time
	Version string
	// Verdict is the first line, Mark how it is coloured.
	Verdict   string
	Mark      Mark
	Incidents []Incident
	NotRun    []NotRun
	// Grants are what permits the calls that were denied.
	Grants   []string
	Diagrams []Diagram
}

// Mark is how bad something is.
type Mark string

// The marks.
const (
	Fault   Mark = "fault"
	Symptom Mark = "symptom"
	Advice  Mark = "advice"
	Unsure  Mark = "unsure"
	Well    Mark = "well"
)

// Incident is a cause with all that it explains.
type Incident struct {
	Mark                                         Mark
	Label                                        string // "FAULT", "WOULD BE REFUSED"
	Check, Confidence                            string
	Where, Title, Why                            string
	Resources, Instances, Contributing, Symptoms []string
	Evidence                                     []Evidence
	Fix, Command, Console                        string
	Hidden                                       []Hidden
}

// Evidence is one thing that a person would have looked up.
type Evidence struct{ What, Value string }

// Hidden is a failed check that a cause explains away.
type Hidden struct{ Check, Because string }

// NotRun is one reason for which checks did not run, which ones and for what, and what
// the service said to a denied call.
type NotRun struct{ Reason, What, Answer string }

// few is how many instances are named before the rest is folded away.
const few = 8

// Write writes a page. An error is the writer's.
func Write(to io.Writer, p Page) error {
	var b builder
	b.WriteString(head)
	title := p.title()
	b.put("<title>%s</title>\n</head>\n<body>\n<main>\n<header>\n<h1>%s</h1>\n", title, title)
	b.put("<p class=\"when\">Account %s · %s · %s<br>", p.Account, p.Region, p.Subject)
	b.put("Checked %s · %s · rollcall %s</p>\n</header>\n", p.Taken.UTC().Format("2006-01-02 15:04 UTC"), p.Verdict, p.Version)
	var advice []Incident
	for _, i := range p.Incidents {
		if i.Mark == Advice {
			advice = append(advice, i)
			continue
		}
		b.incident(i, p.diagramsFor(i))
	}
	if len(p.NotRun) > 0 {
		b.WriteString("<section class=\"unsure\">\n<div class=\"label\">NOT CHECKED</div>\n<table>\n")
		for _, n := range p.NotRun {
			b.put("<tr><th>%s</th><td>%s", n.Reason, n.What)
			b.putIf("<p class=\"soft\">%s</p>", n.Answer)
			b.WriteString("</td></tr>\n")
		}
		b.WriteString("</table>\n")
		for _, g := range p.Grants {
			b.put("<pre>%s</pre>\n", g)
		}
		b.WriteString("</section>\n")
	}
	if left := p.left(); len(left) > 0 {
		b.WriteString("<section class=\"well\">\n<h2>Network paths</h2>\n")
		b.drawings(left)
		b.WriteString("</section>\n")
	}
	if len(advice) > 0 {
		fmt.Fprintf(&b, "<details><summary>Advice: %d, what breaks nothing yet</summary>\n", len(advice))
		for _, i := range advice {
			b.incident(i, nil)
		}
		b.WriteString("</details>\n")
	}
	b.WriteString(legend + "</main>\n</body>\n</html>\n")
	if _, err := io.WriteString(to, b.String()); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

// title is the page's: a ticket or a browser's tab shows nothing else.
func (p Page) title() string {
	found := slices.DeleteFunc(slices.Clone(p.Incidents), func(i Incident) bool { return i.Mark == Advice })
	switch len(found) {
	case 0:
		return p.Subject + ": " + p.Verdict
	case 1:
		return found[0].Where + ": " + found[0].Title
	}
	return fmt.Sprintf("%s: %s, and %d more", found[0].Where, found[0].Title, len(found)-1)
}

const legend = `<p class="soft">✓ green: the service is reachable. ✗ red: the path ends there. ? gray: it leaves what could be read. ` +
	"The colors are those of routes and endpoints; a security group or network ACL that is a cause is red in front of them.</p>\n"

// builder writes HTML. html/template would be shorter, and makes the linker keep every method
// of every AWS client in the program: it finds methods by name.
type builder struct{ strings.Builder }

// put writes texts into HTML, as texts.
func (b *builder) put(format string, texts ...string) {
	escaped := make([]any, len(texts))
	for i, t := range texts {
		escaped[i] = html.EscapeString(t)
	}
	fmt.Fprintf(b, format, escaped...)
}

// putIf is put of one text that is there.
func (b *builder) putIf(format, text string) {
	if text != "" {
		b.put(format, text)
	}
}

func (b *builder) drawings(list []Diagram) {
	for _, d := range list {
		b.WriteString("<div class=\"drawing\" tabindex=\"0\" role=\"group\" aria-label=\"Network path\">" + d.SVG() + "</div>\n")
		b.listed(d)
	}
}

// listed writes a diagram as lists from top to bottom, for screens on which a drawing from
// left to right ends after its second box; those that stop come first.
func (b *builder) listed(d Diagram) {
	b.WriteString("<div class=\"listed\">\n")
	for _, state := range []State{Stops, Unseen, Reaches} {
		for _, w := range d.Ways {
			if w.State != state {
				continue
			}
			b.put("<div class=\"%s\"><strong>%s %s</strong> <span class=\"soft\">%s</span>\n<ol>", string(w.State), ending(w.State), joined(w.Services), w.Means)
			b.put("<li>%s", joined(d.Subnets))
			for _, id := range append(d.accused(d.Subnets...), d.groups()...) {
				b.put("<br>✗ %s", id)
			}
			for _, h := range w.Hops {
				b.put("</li>\n<li>%s", h.ID)
				b.putIf(" <span class=\"soft\">%s</span>", h.Note)
				b.putIf("<br><span class=\"soft\">%s</span>", joined(h.Via))
				for _, id := range d.accused(h.Via...) {
					b.put("<br>✗ %s", id)
				}
				b.putIf("<br><span class=\"soft\">%s</span>", h.Row)
			}
			b.WriteString("</li></ol>")
			b.putIf("<p>"+ending(w.State)+" %s</p>", w.Why)
			b.WriteString("</div>\n")
		}
	}
	b.WriteString("</div>\n")
}

// incident writes a cause with the diagrams of its network.
func (b *builder) incident(i Incident, drawn []Diagram) {
	b.put("<section class=\"%s\">\n<div class=\"label\">%s</div>\n<h2>%s · %s</h2>\n", string(i.Mark), i.Label, i.Where, i.Title)
	b.put("<p class=\"soft\"><code>%s</code> · %s</p>\n", i.Check, i.Confidence)
	b.putIf("<p>%s</p>\n", i.Why)
	if i.Fix != "" || i.Command != "" || i.Console != "" {
		b.WriteString("<h3>Fix</h3>\n")
		b.putIf("<p>%s</p>\n", i.Fix)
		b.putIf("<pre>%s</pre>\n", i.Command)
		if strings.HasPrefix(i.Console, "https://") {
			b.put("<p><a href=\"%s\" rel=\"noreferrer\">Open in console</a></p>\n", i.Console)
		}
	}
	if len(drawn) > 0 {
		b.WriteString("<h3>Network path</h3>\n")
		b.drawings(drawn)
	}
	b.instances(i.Instances)
	if len(i.Evidence) > 0 || len(i.Resources) > 0 {
		b.WriteString("<h3>Evidence</h3>\n<table>\n")
		row := "<tr><th>%s</th><td class=\"value\">%s</td></tr>\n"
		if len(i.Resources) > 0 {
			b.put(row, "Resources", joined(i.Resources))
		}
		for _, e := range i.Evidence {
			b.put(row, e.What, e.Value)
		}
		b.WriteString("</table>\n")
	}
	b.putIf("<p class=\"soft\">Beside it: %s</p>\n", joined(i.Contributing))
	b.putIf("<p class=\"soft\">It explains: %s</p>\n", joined(i.Symptoms))
	if len(i.Hidden) > 0 {
		b.WriteString("<details><summary class=\"soft\">Failed checks that it explains</summary>")
		for _, h := range i.Hidden {
			b.put("<p class=\"soft\"><code>%s</code> (because of <code>%s</code>)</p>", h.Check, h.Because)
		}
		b.WriteString("</details>\n")
	}
	b.WriteString("</section>\n")
}

// instances writes the first instances, and folds the rest away.
func (b *builder) instances(ids []string) {
	if len(ids) == 0 {
		return
	}
	plural := "s"
	if len(ids) == 1 {
		plural = ""
	}
	shown := min(few, len(ids))
	fmt.Fprintf(b, "<h3>%d instance%s</h3>\n", len(ids), plural)
	b.put("<p class=\"id\">%s</p>\n", joined(ids[:shown]))
	if more := ids[shown:]; len(more) > 0 {
		fmt.Fprintf(b, "<details><summary>%d more</summary>", len(more))
		b.put("<p class=\"id\">%s</p></details>\n", joined(more))
	}
}

func joined(list []string) string { return strings.Join(list, ", ") }

// diagramsFor are the diagrams that show an incident: those of the network that it is about,
// and in which its instances are.
func (p Page) diagramsFor(i Incident) []Diagram {
	var list []Diagram
	for _, d := range p.Diagrams {
		if d.shows(i) {
			list = append(list, d)
		}
	}
	return list
}

// left are the diagrams that show no incident.
func (p Page) left() []Diagram {
	return slices.DeleteFunc(slices.Clone(p.Diagrams), func(d Diagram) bool {
		return slices.ContainsFunc(p.Incidents, func(i Incident) bool { return i.Mark != Advice && d.shows(i) })
	})
}

// drawn reports whether a check is about the network, or about a node that may not reach
// what it needs.
func (i Incident) drawn() bool {
	family, _, _ := strings.Cut(i.Check, "/")
	return slices.Contains([]string{"route", "endpoint", "sg", "nacl", "dns", "node"}, family)
}

// State is how a way ends.
type State string

// The states.
const (
	Reaches State = "reaches"
	Stops   State = "stops"
	// Unseen is a way that leaves what could be read.
	Unseen State = "unseen"
)

// Diagram is how far packets get from subnets that share a route table.
type Diagram struct {
	Cluster string
	Table   string // the route table's id
	Main    bool   // the VPC's main table, without an association of its own
	Subnets []string
	// Instances are those in the subnets.
	Instances []string
	Ways      []Way
	// ACLs are the network ACLs by subnet, of the subnets on the ways too.
	ACLs map[string]string
	// Accused are security groups of the nodes and network ACLs that are a cause.
	Accused []string
}

// accused are the filters of some subnets that are a cause.
func (d Diagram) accused(subnets ...string) []string {
	var list []string
	for _, id := range subnets {
		if acl := d.ACLs[id]; slices.Contains(d.Accused, acl) && !slices.Contains(list, acl) {
			list = append(list, acl)
		}
	}
	return list
}

// Way leads to services that are reached alike.
type Way struct {
	Services []string // as a person calls them
	Means    string
	Hops     []Hop
	State    State
	Why      string // why it stops, or cannot be seen
}

// Hop is one step of a way after the subnet.
type Hop struct {
	ID, Note string
	// Via are the subnet and the route table by which packets go on from a gateway.
	Via []string
	// Row is the row of a route table by which packets go on from here.
	Row string
}

func (h Hop) equal(o Hop) bool {
	return h.ID == o.ID && h.Note == o.Note && h.Row == o.Row && slices.Equal(h.Via, o.Via)
}

// Diagrams draws the ways from the subnets of a snapshot's scope and of its
// instances, a diagram for each route table, those that stop somewhere first.
func Diagrams(s *snapshot.Snapshot) []Diagram {
	v := check.NewView(s)
	scope := routes.ForView(v)
	acls := map[string]string{}
	for _, subnet := range s.Subnets {
		if acl, known := v.Filters().ACL(subnet.ID); known {
			acls[subnet.ID] = acl.ID
		}
	}
	var list []Diagram
	for _, t := range scope.Tables {
		d := Diagram{Cluster: s.Cluster.Name, Table: t.Table.ID, Main: t.Table.Fallback, Subnets: t.IDs(), ACLs: acls}
		for _, id := range d.Subnets {
			for _, i := range scope.RunningBySubnet[id] {
				d.Instances = append(d.Instances, i.ID)
			}
			for _, i := range scope.TerminatedBySubnet[id] {
				d.Instances = append(d.Instances, i.ID)
			}
		}
		services := map[int][]path.Service{}
		for _, p := range t.Paths {
			n := d.add(p)
			services[n] = append(services[n], p.Service)
		}
		for n, list := range services {
			d.Ways[n].Services = path.Names(list)
		}
		list = append(list, d)
	}
	slices.SortStableFunc(list, func(a, b Diagram) int { return cmp.Compare(a.worst(), b.worst()) })
	return list
}

// add adds a service's path to the way that it shares with others, and returns which
// one it is.
func (d *Diagram) add(p path.Path) int {
	w := Way{Means: strings.TrimSuffix(string(p.Means), " of the cluster"), State: stateOf(p.Way), Why: p.Reason}
	if p.Verdict == path.NeedsPublicIP {
		w.Why = "only for nodes with a public address"
	}
	for _, h := range p.Hops {
		switch {
		case slices.Contains(d.Subnets, h.ID):
		case len(w.Hops) > 1 && (strings.HasPrefix(h.ID, "subnet-") || strings.HasPrefix(h.ID, "rtb-")):
			last := &w.Hops[len(w.Hops)-1]
			last.Via, last.Row = append(last.Via, h.ID), h.Row
		default:
			w.Hops = append(w.Hops, Hop{ID: h.ID, Note: h.Note, Row: h.Row})
		}
	}
	for i := range d.Ways {
		if o := &d.Ways[i]; o.Means == w.Means && o.State == w.State && o.Why == w.Why && slices.EqualFunc(o.Hops, w.Hops, Hop.equal) {
			return i
		}
	}
	d.Ways = append(d.Ways, w)
	return len(d.Ways) - 1
}

func stateOf(w path.Way) State {
	switch {
	case w.Good():
		return Reaches
	case w.Verdict == path.LeavesView:
		return Unseen
	}
	return Stops
}

// worst orders diagrams.
func (d Diagram) worst() int {
	worst := 2
	for _, w := range d.Ways {
		switch w.State {
		case Stops:
			return 0
		case Unseen:
			worst = min(worst, 1)
		}
	}
	return worst
}

// shows reports whether a diagram is of the network that an incident is about.
func (d Diagram) shows(i Incident) bool {
	if !i.drawn() || !strings.HasPrefix(i.Where, d.Cluster) {
		return false
	}
	own := slices.Concat([]string{d.Table}, d.Subnets, d.Instances)
	return slices.ContainsFunc(slices.Concat(i.Resources, i.Instances), func(id string) bool { return slices.Contains(own, id) })
}

// Accuse marks the filters that causes accuse in the networks that they are about.
func Accuse(list []Diagram, incidents []Incident) {
	for n := range list {
		for _, i := range incidents {
			family, _, _ := strings.Cut(i.Check, "/")
			if i.Mark != Fault || family != "sg" && family != "nacl" || !list[n].shows(i) {
				continue
			}
			for _, id := range i.Resources {
				if (strings.HasPrefix(id, "sg-") || strings.HasPrefix(id, "acl-")) && !slices.Contains(list[n].Accused, id) {
					list[n].Accused = append(list[n].Accused, id)
				}
			}
		}
	}
}

// The measures of a drawing, in CSS pixels at its natural size. An id has 24
// characters, of 7.3 pixels in a 12 pixel monospaced font.
const (
	boxWidth  = 196
	boxHeight = 46
	gapX      = 70
	gapY      = 18
	margin    = 10
	lineStep  = 15
	// named is how many subnets a box names.
	named = 4
	// wide is how many characters fit into a box.
	wide = 27
)

// place is a box of the drawing: a hop that ways share, with what comes after it.
type place struct {
	lines []string
	row   string // written on the line that leads here
	class State
	ends  bool
	next  []*place
	id    string
	// x and y are the box's middle on its left side.
	x, y, height int
	why          string
}

// SVG draws a diagram: subnets, route table, hops and services from left to right.
func (d Diagram) SVG() string {
	root := d.tree()
	depth := root.depth()
	bottom := root.set(margin, margin, margin+(depth-1)*(boxWidth+gapX))
	width := 2*margin + depth*boxWidth + (depth-1)*gapX
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="way" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="%s">`, width, bottom+margin, width, bottom+margin, html.EscapeString(d.Label()))
	root.draw(&b)
	b.WriteString(`</svg>`)
	return b.String()
}

// Label tells a diagram in words, for those who do not see it.
func (d Diagram) Label() string {
	var list []string
	for _, w := range d.Ways {
		what := map[State]string{Reaches: "reached", Stops: "not reached", Unseen: "cannot be seen"}[w.State]
		text := strings.Join(w.Services, ", ") + ": " + what
		if w.Why != "" {
			text += ", " + w.Why
		}
		list = append(list, text)
	}
	return "From " + strings.Join(d.Subnets, ", ") + ". " + strings.Join(list, ". ") + "."
}

// tree joins the ways where they begin alike.
func (d Diagram) tree() *place {
	root := &place{class: Reaches}
	for i, id := range d.Subnets {
		if i == named && len(d.Subnets) > named+1 {
			root.lines = append(root.lines, fmt.Sprintf("and %d more", len(d.Subnets)-named))
			break
		}
		root.lines = append(root.lines, id)
	}
	for _, id := range append(d.accused(d.Subnets...), d.groups()...) {
		root.lines, root.class = append(root.lines, "✗ "+id), Stops
	}
	for _, w := range d.Ways {
		at, row := root, ""
		for n, h := range w.Hops {
			at = at.to(h, row, d)
			row = h.Row
			if n == len(w.Hops)-1 {
				at.class = worse(at.class, w.State)
			}
		}
		end := &place{lines: wrapped(ending(w.State)+" "+strings.Join(w.Services, ", "), wide), row: row, class: w.State, ends: true, why: w.Why}
		end.lines = append(end.lines, w.Means)
		at.next = append(at.next, end)
	}
	for _, n := range root.next {
		n.spread()
	}
	return root
}

// groups are the accused security groups: those of the nodes.
func (d Diagram) groups() []string {
	return slices.DeleteFunc(slices.Clone(d.Accused), func(id string) bool { return !strings.HasPrefix(id, "sg-") })
}

// ending is what stands before the services: not everybody sees the colours.
func ending(s State) string {
	return map[State]string{Reaches: "✓", Stops: "✗", Unseen: "?"}[s]
}

// to is the place of a hop, which ways that came this far share.
func (p *place) to(h Hop, row string, d Diagram) *place {
	for _, n := range p.next {
		if n.id == h.ID && n.row == row && !n.ends {
			return n
		}
	}
	next := &place{id: h.ID, row: row, class: Reaches, lines: []string{h.ID}}
	if h.Note != "" {
		next.lines = append(next.lines, h.Note)
	} else if h.ID == d.Table && d.Main {
		next.lines = append(next.lines, "main table")
	}
	next.lines = append(next.lines, h.Via...)
	for _, id := range d.accused(h.Via...) {
		next.lines, next.class = append(next.lines, "✗ "+id), Stops
	}
	p.next = append(p.next, next)
	return next
}

// worse is the worse of two states.
func worse(a, b State) State {
	if a == Stops || b == Stops {
		return Stops
	}
	if a == Unseen || b == Unseen {
		return Unseen
	}
	return Reaches
}

// spread makes a place that no way ends at green where something beyond it is reached.
func (p *place) spread() {
	for _, n := range p.next {
		n.spread()
	}
	for _, n := range p.next {
		if !p.ends && n.class == Reaches {
			if p.class != Stops {
				p.class = Reaches
			}
		}
	}
}

func (p *place) depth() int {
	deepest := 0
	for _, n := range p.next {
		deepest = max(deepest, n.depth())
	}
	return deepest + 1
}

// set gives each box its place, services that of the last column, and returns where
// the next one below may begin.
func (p *place) set(x, top, last int) int {
	for i, line := range p.lines {
		p.lines[i] = short(line)
	}
	if p.ends {
		x = last
	}
	p.x, p.height = x, max(boxHeight, 14+lineStep*len(p.lines))
	if len(p.next) == 0 {
		p.y = top + p.height/2
		bottom := top + p.height
		if p.why != "" {
			bottom += lineStep * len(wrapped(p.why, wide+4))
		}
		return bottom + gapY
	}
	at := top
	for _, n := range p.next {
		at = n.set(x+boxWidth+gapX, at, last)
	}
	p.y = (p.next[0].y + p.next[len(p.next)-1].y) / 2
	// A box that is higher than what comes after it.
	if over := top + p.height/2 - p.y; over > 0 {
		p.y += over
		at = max(at, top+p.height+gapY)
	}
	return at
}

func (p *place) draw(b *strings.Builder) {
	for _, n := range p.next {
		x1, x2 := p.x+boxWidth, n.x
		// Straight on past the columns that it passes: they are empty in its row.
		bend := x1 + gapX
		fmt.Fprintf(b, `<path class="%s" d="M%d %d C%d %d %d %d %d %d L%d %d"/>`, n.leads(), x1, p.y, x1+gapX/2, p.y, bend-gapX/2, n.y, bend, n.y, x2, n.y)
		if n.row != "" {
			fmt.Fprintf(b, `<text class="row" x="%d" y="%d">%s</text>`, bend-6, n.y-6, html.EscapeString(short(n.row)))
		}
	}
	fmt.Fprintf(b, `<g class="%s"><rect x="%d" y="%d" width="%d" height="%d" rx="6"/>`, p.class, p.x, p.y-p.height/2, boxWidth, p.height)
	for i, line := range p.lines {
		y := p.y + 4 + lineStep*i - lineStep*(len(p.lines)-1)/2
		class := ""
		if i > 0 && p.id != "" || p.ends && i == len(p.lines)-1 {
			class = ` class="note"`
		}
		fmt.Fprintf(b, `<text%s x="%d" y="%d">%s</text>`, class, p.x+10, y, html.EscapeString(line))
	}
	if p.why != "" {
		for i, line := range wrapped(p.why, wide+4) {
			fmt.Fprintf(b, `<text class="why" x="%d" y="%d">%s</text>`, p.x+2, p.y+p.height/2+13+lineStep*i, html.EscapeString(line))
		}
	}
	b.WriteString(`</g>`)
	for _, n := range p.next {
		n.draw(b)
	}
}

// leads is the colour of the line to a place: what comes after it counts too.
func (p *place) leads() State {
	if len(p.next) == 0 {
		return p.class
	}
	s := p.class
	for _, n := range p.next {
		switch n.leads() {
		case Reaches:
			return Reaches
		case Unseen:
			s = Unseen
		}
	}
	return s
}

// short cuts a line to what fits into a box.
func short(s string) string {
	if r := []rune(s); len(r) > wide {
		return string(r[:wide-1]) + "…"
	}
	return s
}

// wrapped breaks a sentence into lines of some characters at most; a longer word has
// a line of its own.
func wrapped(s string, most int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(s) {
		if line != "" && len(line)+1+len(word) > most {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
