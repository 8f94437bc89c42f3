package slack

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	slackgo "github.com/slack-go/slack"

	"rollcall/shared/catalog"
	"rollcall/shared/checkid"
	"rollcall/shared/checks/finding"
	"rollcall/shared/incident"
	"rollcall/shared/lazyregexp"
	"rollcall/shared/overview"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
	"rollcall/shared/slack/slackapi"
	"rollcall/shared/slack/slacktext"
	"rollcall/shared/snapshot"
	"rollcall/shared/spoke"
)

// The colours of the first line. Each also stands beside words that say the same.
const (
	red    = "🔴" // nodes do not join, and it is known or certain
	orange = "🟠" // nodes may not join, or none is affected yet
	blue   = "🔵" // advice
	yellow = "🟡" // the cause is gone, the proof is awaited
	green  = "✅"
	white  = "⚪" // closed without a proof
)

// headline is the first line of the message: colour, place, what, why.
func headline(i incident.Incident) string {
	colour, what := verdict(i)
	place := where(i)
	return colour + " " + place + " · " + unnamed(what, place)
}

// unnamed leaves a nodegroup's name out of what is said of it, where the place
// before it has just named that one alone: "prod / workers · cannot launch".
func unnamed(what, place string) string {
	_, group, _ := strings.Cut(place, " / ")
	if group == "" {
		return what
	}
	if rest, ok := strings.CutPrefix(what, "nodegroup "+group+" "); ok {
		return "nodegroup " + rest
	}
	if rest, ok := strings.CutPrefix(what, group+" cannot launch"); ok {
		return "cannot launch" + rest
	}
	return what
}

// where names the cluster and its nodegroups: those of the affected launches,
// or, where none is affected or known by it, all that the cause is about.
func where(i incident.Incident) string {
	var names []string
	for _, l := range i.Launches {
		names = append(names, l.Nodegroup)
	}
	if len(slacktext.Distinct(names...)) == 0 {
		names = i.Cause.Nodegroups
	}
	place := slacktext.Clip(slacktext.OneLine(i.Key.Cluster), 60)
	if i.Key.Cluster == report.AllClusters {
		place = "all clusters"
	}
	place = slacktext.Place(place, i.Whose)
	if groups := affected(slacktext.Distinct(names...)); groups != "" {
		place += " / " + groups
	}
	return place
}

// affected names four nodegroups if their names are short, else two.
func affected(names []string) string {
	const most, room = 4, 48
	if len(names) <= most && slacktext.Length(strings.Join(names, ", ")) <= room {
		return slacktext.Few(names, most, room)
	}
	return slacktext.Few(names, 2, 40)
}

// title is what the cause is, as the end of a sentence.
func title(i incident.Incident) string {
	if t := slacktext.OneLine(i.Cause.Title); t != "" {
		return strings.TrimSuffix(slacktext.Clip(t, 160), ".")
	}
	return strings.TrimSpace(slacktext.Clip(slacktext.OneLine(string(i.Key.Check)+" "+i.Key.Resource), 160))
}

func verdict(i incident.Incident) (colour, what string) {
	switch i.State {
	case incident.Cleared:
		if well := addressesAre(i); well != "" {
			return yellow, well + ", waiting for a new node to join" + colon(cameBack(i))
		}
		if i.Replacing() {
			return yellow, "cause is gone, instances still to be replaced" + colon(change(i.ClearedBy))
		}
		return yellow, "cause is gone, waiting for a new node to join" + colon(change(i.ClearedBy))
	case incident.Closed:
		return closed(i)
	}
	colour, what = failing(i, tallyOf(i))
	if i.Number > 1 {
		fact, cause, _ := strings.Cut(what, ": ")
		what = fact + ", for the " + slacktext.Ordinal(i.Number) + " time" + colon(cause)
	}
	return colour, what
}

// failing is the verdict on an incident that is open.
func failing(i incident.Incident, t tally) (colour, what string) {
	switch confidence := i.Cause.Confidence; {
	case i.Key.Check == incident.CannotLook:
		return orange, title(i)
	case i.Key.Check == checkid.InstanceEndedEarly && t.gone > 1:
		// The newest finding is of the last one; a group that keeps trying
		// makes many.
		return red, slacktext.Count(t.gone, "instance") + " ended before they were nodes"
	case i.Key.Check == checkid.InstanceEndedEarly:
		return red, title(i) // its title says who and what
	case confidence == catalog.Advice:
		return blue, "worth fixing" + colon(continued(title(i)))
	case t.all == 0:
		return withoutFailures(i, confidence)
	case confidence == catalog.Certain && t.joined == 0 && catalog.Meaning(i.Key.Check).Breaks == catalog.Launching:
		// Each instance was one try of the group to launch: their number grows
		// with the hours, and is not how many nodes are missing.
		return red, title(i) + ", " + slacktext.Count(t.all, "failed launch") + " so far"
	case t.out() == 0 && ownFailure(i.Key.Check):
		return withoutFailures(i, confidence) // who joined is not what it is about
	case t.out() == 0:
		return orange, slacktext.Count(t.all, "instance") + " joined anyway, but " + title(i)
	case t.early():
		return predicted(i, t, confidence)
	default:
		return missed(i, t, confidence)
	}
}

// ownFailure recognizes a check whose finding fails something by itself, whether nodes
// join or not: a subnet without addresses keeps pods from starting, a zone volumes
// from being used.
func ownFailure(id checkid.ID) bool { return catalog.Meaning(id).Breaks.ByItself() }

// withoutFailures is for a cause that no launch has met yet. What is no cause of a
// failed join, but a failure of its own, says so itself.
func withoutFailures(i incident.Incident, c catalog.Confidence) (colour, what string) {
	switch catalog.Meaning(i.Key.Check).Breaks {
	case catalog.Launching:
		return red, title(i)
	case catalog.Addresses:
		if worse(i) {
			return red, title(i) + pick(i.Key.Check == checkid.IPLeakedInterfaces, ", and too few are left", "")
		}
		return orange, title(i)
	case catalog.Pods:
		return zoneFails(i, c)
	case catalog.Managed:
		return orange, title(i)
	}
	if len(i.Cause.Pods) > 0 {
		// It is about nodes that joined: what it keeps from starting is their pods.
		return orange, "pods wait on Ready nodes" + colon(continued(title(i)))
	}
	switch c {
	case catalog.Certain:
		return orange, "new instances cannot join" + colon(continued(title(i)))
	case catalog.Likely:
		return orange, "new instances will probably not join" + colon(continued(title(i)))
	case catalog.Possible:
		return orange, "new instances may not join" + colon(continued(title(i)))
	}
	return orange, title(i)
}

// predicted is for launches that are not due yet.
func predicted(i incident.Incident, t tally, c catalog.Confidence) (colour, what string) {
	switch c {
	case catalog.Certain:
		return red, t.who() + " will not be able to join" + colon(continued(title(i)))
	case catalog.Likely:
		return orange, t.who() + " will probably not join" + colon(continued(title(i)))
	case catalog.Possible:
		return orange, t.who() + " may not join" + colon(continued(title(i)))
	}
	if len(i.Blind) > 0 {
		return orange, "cannot judge " + slacktext.Count(t.out(), "new instance") + ": " + unseen(i)
	}
	return orange, t.who() + pick(t.out() == 1, " has", " have") + " not joined yet" + colon(continued(title(i)))
}

// missed is for launches that were due and are not Ready nodes.
func missed(i incident.Incident, t tally, c catalog.Confidence) (colour, what string) {
	fact := t.who() + pick(t.out() == 1, " has", " have") + " not joined"
	if t.ended() {
		fact = t.who() + " ended before joining"
	}
	switch {
	case c == catalog.Certain:
		return red, t.who() + " cannot join" + colon(continued(title(i)))
	case c == catalog.Likely:
		return red, fact + ", likely cause" + colon(continued(title(i)))
	case c == catalog.Possible:
		return red, fact + ", possible cause" + colon(continued(title(i)))
	case len(i.Blind) > 0:
		return red, fact + ", cause unknown: " + unseen(i)
	}
	return red, fact + ", no cause found" + colon(continued(title(i)))
}

// unseen names the sources that could not be read.
func unseen(i incident.Incident) string {
	return "could not read " + slacktext.Few(sources(i.Blind), 3, 40)
}

func sources(failures []snapshot.Failure) []string {
	names := make([]string, len(failures))
	for n, f := range failures {
		names[n] = string(f.Source)
	}
	return slacktext.Distinct(names...)
}

func colon(s string) string {
	if s == "" {
		return ""
	}
	return ": " + s
}

// continued makes a sentence the end of another: "User data of lt-1" begins
// small, "STS" and ids stay.
func continued(s string) string {
	r := []rune(s)
	if len(r) > 1 && unicode.IsUpper(r[0]) && unicode.IsLower(r[1]) {
		r[0] = unicode.ToLower(r[0])
	}
	return string(r)
}

func pick(yes bool, a, b string) string {
	if yes {
		return a
	}
	return b
}

// clocks are the times that checks write, which have no reader: "15:06:15 UTC",
// "2026-11-20 14:20 UTC".
var clocks = regexp.MustCompile(`(?:(\d{4}-\d{2}-\d{2}) )?\b(\d{2}:\d{2})(?::\d{2})? UTC\b`)

// withClocks appends text with its times as all others of the message are shown: in the
// reader's own zone. Two clocks in one message are a riddle at three in the morning.
func (l *line) withClocks(s string, bold bool) {
	if !strings.Contains(s, " UTC") { // most text has no time
		l.withIDs(s, bold)
		return
	}
	from := 0
	for _, m := range clocks.FindAllStringSubmatchIndex(s, -1) {
		day := ""
		if m[2] >= 0 {
			day = s[m[2]:m[3]]
		}
		at, known := l.page.clockTime(day, s[m[4]:m[5]])
		if !known {
			continue
		}
		l.withIDs(s[from:m[0]], bold)
		if day == "" {
			l.clock(at)
		} else {
			l.dated(at)
		}
		from = m[1]
	}
	l.withIDs(s[from:], bold)
}

// clockTime is the time of a day; without the day, that which is nearest to what the
// message is about.
func (p *page) clockTime(day, clock string) (time.Time, bool) {
	if day != "" {
		at, err := time.Parse("2006-01-02 15:04", day+" "+clock)
		return at, err == nil
	}
	at, err := time.Parse("15:04", clock)
	if err != nil || p.asOf.IsZero() {
		return time.Time{}, false
	}
	y, m, d := p.asOf.UTC().Date()
	at = time.Date(y, m, d, at.Hour(), at.Minute(), 0, 0, time.UTC)
	switch away := at.Sub(p.asOf); {
	case away > 12*time.Hour:
		at = at.AddDate(0, 0, -1)
	case away < -12*time.Hour:
		at = at.AddDate(0, 0, 1)
	}
	return at, true
}

// ids finds the ids of AWS resources in text. The left part of the match is
// the kind, which says where the console shows it.
var ids = regexp.MustCompile(`\b(i|subnet|rtb|nat|igw|eigw|vpce|vpc|sg|eni|acl|tgw|pcx|vgw|eipalloc|lt|ami|vol)-[0-9a-f]{3,17}\b`)

// codes finds what is set in monospace: ids, and permissions such as
// ec2:DescribeRouteTables.
var codes = regexp.MustCompile(ids.String() + `|\b[a-z][a-z0-9-]+:[A-Z][a-z]+[A-Z][A-Za-z]+\b`)

var region = regexp.MustCompile(`^[a-z]{2}(-[a-z]+)+-\d$`)

// place is where an account's resources are.
type place struct{ partition, region string }

// console is the page of one resource in the AWS console; empty if there is none.
func (p place) console(id string) string {
	domain := p.domain()
	kind, _, _ := strings.Cut(id, "-")
	page := map[string]string{
		"i":      "ec2/home#InstanceDetails:instanceId=",
		"sg":     "ec2/home#SecurityGroup:groupId=",
		"eni":    "ec2/home#NetworkInterface:networkInterfaceId=",
		"vol":    "ec2/home#VolumeDetails:volumeId=",
		"subnet": "vpcconsole/home#SubnetDetails:subnetId=",
		"rtb":    "vpcconsole/home#RouteTableDetails:RouteTableId=",
		"nat":    "vpcconsole/home#NatGatewayDetails:natGatewayId=",
		"igw":    "vpcconsole/home#InternetGateway:internetGatewayId=",
		"vpce":   "vpcconsole/home#EndpointDetails:vpcEndpointId=",
		"vpc":    "vpcconsole/home#VpcDetails:VpcId=",
		"acl":    "vpcconsole/home#NetworkAclDetails:networkAclId=",
		"tgw":    "vpcconsole/home#TransitGatewayDetails:transitGatewayId=",
	}[kind]
	if domain == "" || page == "" || ids.FindString(id) != id || !region.MatchString(p.region) {
		return ""
	}
	path, fragment, _ := strings.Cut(page, "#")
	return "https://" + p.region + "." + domain + "/" + path + "?region=" + p.region + "#" + fragment + id
}

// domain is the host of the console in a partition.
func (p place) domain() string {
	return map[string]string{
		"aws":        "console.aws.amazon.com",
		"aws-cn":     "console.amazonaws.cn",
		"aws-us-gov": "console.amazonaws-us-gov.com",
	}[p.partition]
}

// logGroup and longestGroup are CloudWatch's own rule for a name (botocore, logs/2014-03-28,
// LogGroupName). The length is no part of the expression: counted there it takes a
// millisecond to compile before a function's first message.
var logGroup = lazyregexp.New(`^[.\-_/#A-Za-z0-9]+$`)

const longestGroup = 512

// logsOf is the page of a log group in the console; empty for none. The console escapes a
// name twice and writes "$" for "%" (its own addresses; no page of AWS documents them).
func logsOf(logs report.Logs) string {
	p := place{spoke.Partition(logs.Region), logs.Region}
	if domain := p.domain(); domain != "" && region.MatchString(p.region) && len(logs.Group) <= longestGroup && logGroup.MatchString(logs.Group) {
		name := strings.ReplaceAll(url.QueryEscape(url.QueryEscape(logs.Group)), "%", "$")
		return "https://" + p.region + "." + domain + "/cloudwatch/home?region=" + p.region + "#logsV2:log-groups/log-group/" + name
	}
	return ""
}

// hosts are those of AWS's console and documentation, in each partition
// (docs.aws.amazon.com/IAM/latest/UserGuide/reference-arns.html names the partitions;
// docs.amazonaws.cn/en_us/aws/latest/userguide, docs.aws.amazon.com/govcloud-us). The
// console has a host for each region before it.
var hosts = regexp.MustCompile(`^(?:(?:[a-z]{2}(?:-[a-z]+)+-\d\.)?console\.(?:aws\.amazon\.com|amazonaws\.cn|amazonaws-us-gov\.com)|docs\.aws\.amazon\.com|docs\.amazonaws\.cn)$`)

// web passes an https address of AWS's console or documentation, of a sane length,
// and nothing else: what is in an incident's record may have come from anywhere.
func web(address string) string {
	const maxURL = 3000 // of a button or link, docs.slack.dev/reference/block-kit
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.User != nil || !hosts.MatchString(u.Host) || slacktext.Length(address) > maxURL {
		return ""
	}
	return u.String()
}

// capital writes the first letter large, unless s starts with an id.
func capital(s string) string {
	if strings.TrimSpace(s) == "" {
		return s
	}
	// Ids and names of zones stay as they are.
	if first := strings.Fields(s)[0]; ids.MatchString(first) || strings.Contains(first, "-") && strings.ContainsAny(first, "0123456789") {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// deferred is a remedy that is tried again later: for what it waits, and when a
// person may press, or Rollcall does it.
func (p *page) deferred(l *line, of incident.Offer) {
	switch {
	case of.Hash == "":
		l.code(slacktext.Clip(slacktext.OneLine(string(of.Plan.Remedy)), 60)).plain(":")
	default:
		l.plain("Waiting: ").prose(slacktext.Sentence(planTitle(of)))
	}
	if says := slacktext.Clip(slacktext.OneLine(of.Says), 300); says != "" {
		l.plain(" ").prose(slacktext.Sentence(capital(says)))
	}
	if of.Policy == optin.Approve && of.Reason != string(remedy.CouldNotLook) {
		l.plain(" It can be approved from ").until(of.Made, of.After).plain(", with a new button.")
		return
	}
	l.plain(" Next try at ").until(of.Made, of.After).plain(".")
}

// deferredLine is the first line of the reply about it. It is a notification too,
// which has no times in the reader's zone.
func deferredLine(of incident.Offer, what string) saying {
	from := of.After.UTC().Format("15:04 UTC")
	if of.Hash == "" {
		return say("the rest waits for the hourly limit. Next try " + from + ": " + slacktext.Clip(string(of.Plan.Remedy), 60) + ".")
	}
	return say("the hourly limit is reached. Next try " + from + ": " + slacktext.Sentence(what))
}

// waits is for what it waits, below that line.
func (p *page) waits(of incident.Offer) {
	if says := slacktext.Clip(slacktext.OneLine(of.Says), 600); says != "" {
		p.add(p.line().prose(slacktext.Sentence(capital(says))).plain(" Everything is rechecked then, and a new plan is made.").section())
	}
}

// The most lines of each list. Longer lists say what they leave out.
const (
	mostInstances = 25
	mostEvidence  = 40
	mostFacts     = 20
	mostFailures  = 6
)

// evidence is what a person would have looked up, as it is.
func (p *page) evidence(label string, list []finding.Evidence) {
	lines := table(list)
	p.listing(label, slacktext.FitLines(lines, len(lines), p.room, mostEvidence, "line"))
}

// listing is a heading over text in monospace.
func (p *page) listing(label, text string) {
	if text != "" {
		p.add(p.heading(label), pre(text))
	}
}

// narrow is how many characters of monospace fit beside each other in a
// thread, on a desk's screen; a phone has about as many.
const narrow = 46

// table sets each piece of evidence on a line, or, if that would be too wide,
// its value under its name, the parts of a list one by one.
func table(list []finding.Evidence) []string {
	var lines []string
	for _, e := range list {
		what, value := slacktext.OneLine(e.What), strings.TrimSpace(slacktext.Clean(e.Value))
		if row := what + colon(value); slacktext.Length(row) <= narrow && !strings.Contains(value, "\n") {
			lines = append(lines, row)
			continue
		}
		lines = append(lines, what)
		for row := range strings.SplitSeq(value, "\n") {
			for part := range strings.SplitSeq(row, "; ") {
				lines = append(lines, "  "+part)
			}
		}
	}
	return slices.DeleteFunc(lines, func(l string) bool { return strings.TrimSpace(l) == "" })
}

// roll lists launches. What they have in common is said once. Times are in
// UTC: preformatted text cannot hold times that Slack converts.
func (p *page) roll(list []report.Launch, total int) {
	columns := []func(report.Launch) string{
		func(l report.Launch) string { return l.Nodegroup },
		func(l report.Launch) string { return l.Type },
		func(l report.Launch) string { return l.Zone },
	}
	var common []string
	columns = slices.DeleteFunc(columns, func(of func(report.Launch) string) bool {
		for _, l := range list {
			if of(l) != of(list[0]) {
				return false
			}
		}
		if len(list) > 0 && of(list[0]) != "" {
			common = append(common, slacktext.Clip(slacktext.OneLine(of(list[0])), 60))
		}
		return true
	})
	lines := make([]string, len(list))
	for n, l := range byStart(list) {
		lines[n] = launchLine(l, columns)
	}
	text := slacktext.FitLines(lines, total, p.room, mostInstances, "instance")
	if text == "" {
		return
	}
	heading := p.label("Instances").plain(strings.Join(append(common, "by launch time"), ", "))
	p.add(heading.section(), pre(text))
}

func launchLine(l report.Launch, columns []func(report.Launch) string) string {
	words := []string{slacktext.OneLine(l.Instance)}
	if !l.Started.IsZero() {
		words = append(words, slacktext.Utc(l.Started))
	}
	for _, of := range columns {
		if c := slacktext.Clip(slacktext.OneLine(of(l)), 40); c != "" {
			words = append(words, c)
		}
	}
	if l.Status == report.Gone {
		ended := "\n  ended"
		if !l.Ended.IsZero() {
			ended += " " + slacktext.Utc(l.Ended)
		}
		words = append(words, ended+colon(slacktext.Clip(slacktext.OneLine(l.EndedWhy), 120)))
	}
	return strings.ReplaceAll(strings.Join(words, "  "), "  \n", "\n")
}

// facts are what the detectors looked up beside the cause.
func (p *page) facts(list []report.Fact) {
	lines := make([]*line, 0, len(list))
	for _, f := range list[:min(len(list), mostFacts)] {
		l := p.line().plain(slacktext.Clip(slacktext.OneLine(f.What), 80))
		if value := slacktext.Clip(slacktext.OneLine(f.Value), max(p.room/8, 40)); value != "" {
			l.plain(": ").prose(value)
		}
		if len(l.items) > 0 {
			lines = append(lines, l)
		}
	}
	if left := len(list) - mostFacts; left > 0 {
		lines = append(lines, p.line().plain("… and "+slacktext.Count(left, "more fact")+" left out here"))
	}
	if len(lines) > 0 {
		p.add(p.heading("Also checked"), bullets(lines...))
	}
}

// blind says what could not be read, and who can change that.
func (p *page) blind(list []snapshot.Failure) {
	if len(list) == 0 {
		return
	}
	lines := make([]*line, 0, mostFailures+1)
	for _, f := range list[:min(len(list), mostFailures)] {
		lines = append(lines, p.failure(f))
	}
	if left := len(list) - mostFailures; left > 0 {
		lines = append(lines, p.line().plain("… and "+slacktext.Count(left, "more source")))
	}
	p.add(
		p.label("Not checked").plain("Checks that need this did not run. It may be the cause.").section(),
		bullets(lines...),
	)
}

func (p *page) failure(f snapshot.Failure) *line {
	l := p.line().plain(slacktext.Clip(slacktext.OneLine(string(f.Source)), 60) + ": ")
	call := slacktext.Clip(slacktext.OneLine(f.Call), 120)
	switch {
	case f.Reason == snapshot.Denied && call != "":
		return l.plain("permission ").code(call).plain(" is missing: grant it to Rollcall.")
	case f.Reason == snapshot.Denied:
		l.plain("a permission is missing")
	case f.Reason == snapshot.Throttled:
		l.plain("throttled by the service")
	case f.Reason == snapshot.TimedOut:
		l.plain("timed out")
	case f.Reason == snapshot.Unreachable:
		l.plain("no connection")
	case f.Reason == snapshot.OverBudget:
		l.plain("too much to read")
	case f.Reason == snapshot.NotShown:
		l.plain("not shown")
	case f.Reason == snapshot.NotRead:
		l.plain("not read")
	default:
		l.plain("the response was an error")
	}
	if call != "" && f.Reason != snapshot.Denied {
		l.plain(" (").code(call).plain(")")
	}
	if m := slacktext.Clip(slacktext.OneLine(f.Message), 160); m != "" {
		l.plain(": " + m)
	}
	return l.plain(".")
}

// handled says who has taken the incident on, and who muted it.
func (p *page) handled(i incident.Incident, o Options) {
	var parts []slackgo.RichTextElement
	if i.Ack != nil {
		l := p.line().plain("Acknowledged by ").taker(*i.Ack).plain(" ").clockOrDate(i.Ack.At)
		if i.Ack.From != nil {
			l.plain(", taken over from ").person(*i.Ack.From)
		}
		parts = append(parts, l.plain(".").section())
	}
	if o.muted(i) {
		parts = append(parts, p.line().plain("Muted by ").person(i.Mute.By).plain(" until ").until(i.Mute.At, i.Mute.Until).plain(".").section())
	}
	if i.Silence != nil {
		l := p.line().plain("Silenced by ").person(i.Silence.By).plain(" until ").until(o.Now, i.Silence.Until)
		if why := slacktext.Clip(slacktext.OneLine(i.Silence.Reason), 300); why != "" {
			l.plain(": ").prose(why)
		}
		parts = append(parts, l.plain(". No further channel posts until then.").section())
	}
	p.add(parts...)
}

// RenderHome is the app's home page for a person. Says is what came of what they pressed
// on it; empty for nothing. A home page has 100 blocks at most and a view 250 KB
// (docs.slack.dev/reference/methods/views.publish); this has those of a message.
func RenderHome(o overview.Overview, says string) slackapi.Message {
	return slackapi.Message{Text: slacktext.Notification(openWords(o)), Blocks: slacktext.Fit(func(room int) []slackgo.Block {
		p := newPage(place{}, o.Now, room)
		if says != "" {
			p.add(p.line().strong(says).section())
		}
		p.add(p.line().strong(openWords(o)).section())
		p.incidents(o, mostIncidents)
		p.watched(o)
		p.unread(o.Unread)
		p.add(p.heading("Silences"))
		if len(o.Silences) == 0 {
			p.add(p.line().plain("Nothing is silenced. To silence a cluster: ").code(`/rollcall silence cluster=NAME for 2h reason "…"`).section())
		}
		p.silences(o, true)
		if muted := p.muted(o); len(muted) > 0 {
			p.add(p.heading("Muted incidents"), bullets(muted...))
		}
		p.add(p.heading("Clusters"))
		p.clusters(o, mostClusters)
		p.add(p.line().plain("As of ").dated(o.Now).plain(". ").code("/rollcall help").plain(" lists all commands.").section())
		return p.blocks
	})}
}

// lineTop is the first line of a reply that the channel shows too: there it stands
// alone, so that it says its owner and state.
func lineTop(i incident.Incident, n incident.Note, says saying) saying {
	colour, what := verdict(i)
	switch {
	case becameCritical(i, n):
		return say(colour + " " + where(i) + " · escalated to critical: " + unnamed(what, where(i)))
	case restates(n):
		return say(headline(i))
	}
	if n.Reason == incident.IsProposed {
		return append(say(colour+" "+where(i)+" · needs a decision: "), says...)
	}
	return append(say(colour+" "+where(i)+" · "+continued(replyLabel(i, n))+": "), says...)
}

// becameCritical reports whether a line is about an incident that got worse, and still is: its
// first line, which is its notification too, says so, as it would else read as its message does.
func becameCritical(i incident.Incident, n incident.Note) bool {
	colour, _ := verdict(i)
	return n.Reason == incident.IsWorse && i.State == incident.Open && colour == red
}

// restates tells of a line that says what the message says, and why it is said again.
func restates(n incident.Note) bool {
	switch n.Reason {
	case incident.Reopened, incident.FailedAgain, incident.IsWorse, incident.HasMissed, incident.IsUnsilenced:
		return true
	}
	return false
}

// inChannel is what a reader of the channel needs beside the first line of a line: why it is
// said again, who is hurt, what waits for a decision. A line is short, and has no command
// that could be old by the time that it is read: these are in the message at the top of its
// thread, with the buttons, which Slack does not show in a line
// (docs.slack.dev/reference/events/message/thread_broadcast).
func (p *page) inChannel(i incident.Incident, n incident.Note, says saying) {
	text := strings.TrimSuffix(says.String(), ":")
	// "for the 2nd time" is in the first line of what recurred.
	if restates(n) && text != "" && !becameCritical(i, n) && !strings.Contains(headline(i), strings.TrimSuffix(text, ".")) {
		p.add(p.label(replyLabel(i, n)).prose(text).section())
	}
	if i.State == incident.Open {
		p.pods(i)
	}
	if n.Reason == incident.IsProposed {
		l := p.line().plain("Approve or refuse it in the message at the top of this thread.")
		if of, known := offerOf(i, n); known {
			l.held(of)
		}
		p.add(l.section())
		return
	}
	p.add(p.line().plain("Cause, fix and buttons are in the message at the top of this thread.").section())
}

// RenderLine is a line of the channel as it should stand now. One that is the incident's
// newest says how things stand; an older one says that there is a newer, and stays.
func RenderLine(i incident.Incident, n incident.Note, newest bool) slackapi.Message {
	of := i.LastOffer(incident.Offered)
	switch {
	case !newest || n.At.Before(i.Opened):
		return pastLine(i, n, headline(i), newest)
	case n.Reason == incident.IsProposed && of == nil, i.State != incident.Open, isCall(n) && i.Ack != nil:
		return pastLine(i, n, headline(i), newest)
	case n.Reason == incident.IsProposed:
		n.Offer = of
	}
	return RenderNote(i, n)
}

// pastLine is a line of which time has gone on.
func pastLine(i incident.Incident, n incident.Note, top string, newest bool) slackapi.Message {
	now := " The current state is in the message at the top of this thread."
	if !newest {
		top, now = white+" "+where(i)+" · "+title(i), " A newer line is below."
	}
	return slackapi.Message{
		Text: slacktext.Notification(top),
		Blocks: slacktext.Fit(func(room int) []slackgo.Block {
			p := newPage(place{i.Partition, i.Region}, n.At, room)
			p.add(p.line().strong(top).section())
			l := p.line().plain("Posted at ").clock(n.At)
			if label := replyLabel(i, n); label != "" {
				l.plain(" (" + continued(label) + ")")
			}
			p.add(l.plain("." + now).section())
			return p.blocks
		}),
		Tag: slackapi.Tag{Key: slackapi.KeyOf(i.Key), Note: n.ID},
	}
}

func isCall(n incident.Note) bool {
	return n.Reason == incident.IsCalled || n.Reason == incident.IsReminded || n.Reason == incident.IsEscalated
}

// mostMentions is how many are called at once: who needs more makes a group.
const mostMentions = 10

// called are the ids that can be called: users, user groups and "here".
// Anything else is left out: a mention that Slack does not take would keep the
// whole message from being sent.
func called(ids []string) []string {
	var list []string
	for _, id := range ids {
		if len(list) < mostMentions && (id == "here" || isUser(id) || isGroup(id)) {
			list = append(list, id)
		}
	}
	return list
}

// mention appends those who are called.
func (l *line) mention(ids []string) *line {
	for _, id := range called(ids) {
		switch {
		case id == "here":
			l.items = append(l.items, slackgo.NewRichTextSectionBroadcastElement("here"))
		case isGroup(id):
			l.items = append(l.items, slackgo.NewRichTextSectionUserGroupElement(id))
		default:
			l.items = append(l.items, slackgo.NewRichTextSectionUserElement(id, nil))
		}
		l.plain(" ")
	}
	return l
}

// calling is the same for the notification's text, in Slack's own marks:
// docs.slack.dev/messaging/formatting-message-text.
func calling(ids []string) string {
	var b strings.Builder
	for _, id := range called(ids) {
		switch {
		case id == "here":
			b.WriteString("<!here> ")
		case isGroup(id):
			b.WriteString("<!subteam^" + id + "> ")
		default:
			b.WriteString("<@" + id + "> ")
		}
	}
	return b.String()
}
