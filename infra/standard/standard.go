// Package standard makes the standard template: one CloudFormation template with parameters
// for whatever the CDK app can be told, of the templates that the app itself makes.
//
// The app is synthesised with settings that stand for all others (stand-ins, package
// choices), once with everything on and once with each choice changed. What is the same in
// all of these templates is the same in the standard one; what only some have hangs on the
// condition that tells them apart; a stand-in becomes the parameter it stands for. Nothing is
// written twice: a function, a permission or an alarm that the app makes stands in the
// standard template, and a test resolves it with generated settings and compares it with the
// app's own, resource by resource.
package standard

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"rollcall/infra/limits"
	p "rollcall/infra/standard/parameters"
	"rollcall/shared/config"
)

// sameAs names an element of a list for the comparison; it stands in no template.
const sameAs = "rollcall:same"

// Texts that are taken apart, because parts of them hang on conditions: the body of the
// dashboard and the expressions of alarms.
const (
	textBody = "rollcall:body" // a JSON value that is written as text
	textHead = "rollcall:head" // a list between head and tail, with commas
	textList = "rollcall:list"
	textTail = "rollcall:tail"
)

// Template makes the standard template of the app's templates, one for each of Assignments.
func Template(synthesised [][]byte) ([]byte, error) {
	b := newBuilder()
	for _, c := range choices() {
		b.names = append(b.names, c.name)
	}
	var read []app
	for i, a := range Assignments() {
		var of assignment
		for _, name := range b.names {
			of = append(of, a[name])
		}
		b.of = append(b.of, of)
		t, err := b.read(synthesised[i])
		if err != nil {
			return nil, fmt.Errorf("template %d: %w", i, err)
		}
		read = append(read, t)
	}
	resources, err := b.resources(read)
	if err != nil {
		return nil, err
	}
	outputs, err := b.outputs(read)
	if err != nil {
		return nil, err
	}
	whole := map[string]any{
		"AWSTemplateFormatVersion": "2010-09-09",
		"Description":              read[0].description,
		"Metadata":                 metadata(),
		"Parameters":               parameters(),
		"Mappings":                 map[string]any{joinTimes: seconds()},
		"Rules":                    rules(),
		"Resources":                resources,
		"Outputs":                  outputs,
	}
	whole["Conditions"] = b.conditions(whole)
	if left := leftover.FindString(canonical(whole)); left != "" {
		return nil, fmt.Errorf("%q is left of the stand-ins", left)
	}
	return written(whole), nil
}

// written is the template with one line for each of its parts: with an indentation it would
// be larger than CloudFormation takes (package limits).
func written(whole map[string]any) []byte {
	var out bytes.Buffer
	out.WriteString("{")
	for i, section := range slices.Sorted(maps.Keys(whole)) {
		if i > 0 {
			out.WriteString(",")
		}
		fmt.Fprintf(&out, "\n%s:", quoted(section))
		parts, ok := whole[section].(map[string]any)
		if !ok {
			out.WriteString(" " + quoted(whole[section]))
			continue
		}
		out.WriteString(" {")
		for j, name := range slices.Sorted(maps.Keys(parts)) {
			if j > 0 {
				out.WriteString(",")
			}
			fmt.Fprintf(&out, "\n %s: %s", quoted(name), quoted(parts[name]))
		}
		out.WriteString("\n}")
	}
	out.WriteString("\n}\n")
	return out.Bytes()
}

// leftover is anything that only a stand-in holds.
var leftover = regexp.MustCompile(`(?i)zqx|zq[a-z][0-9]{4}|5e0[a-d]0|9900000000|us-zq|zqpath|rollcall:(same|body|head|list|tail)`)

type app struct {
	description string
	resources   map[string]map[string]any
	outputs     map[string]map[string]any
}

type builder struct {
	merger
	// fixed are the stand-ins of single values, standIn finds any stand-in, and items are the
	// forms of the lists'.
	fixed   map[string]any
	standIn *regexp.Regexp
	items   []*regexp.Regexp
	// held are references that stand in a text, by the name that is written there.
	held map[string]any
	// slots are the conditions of list's items, by name.
	slots map[string]any
}

// Renamed is added to the id of a resource that is called as a parameter is.
const Renamed = "Subscription"

func newBuilder() *builder {
	b := &builder{merger: merger{used: map[string][]literal{}}, fixed: fixed(), held: map[string]any{}, slots: map[string]any{}}
	// All clusters in a row come before one of them, and a list's items before the prefix
	// that they begin with.
	forms := []string{regexp.QuoteMeta(strings.Join(accessClusters().items(), " "))}
	for _, l := range lists() {
		b.items = append(b.items, regexp.MustCompile(l.form()))
		forms = append(forms, l.form())
	}
	for _, text := range slices.SortedFunc(maps.Keys(b.fixed), func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) }) {
		forms = append(forms, regexp.QuoteMeta(text))
	}
	b.standIn = regexp.MustCompile(strings.Join(append(forms, hold+"[0-9a-f]+"+release), "|"))
	return b
}

// read takes a template apart, so that what differs by settings differs in its own place.
func (b *builder) read(source []byte) (app, error) {
	dec := json.NewDecoder(bytes.NewReader(source))
	dec.UseNumber()
	var doc struct {
		Description string
		Resources   map[string]map[string]any
		Outputs     map[string]map[string]any
	}
	if err := dec.Decode(&doc); err != nil {
		return app{}, fmt.Errorf("read what was synthesised: %w", err)
	}
	a := app{doc.Description, map[string]map[string]any{}, doc.Outputs}
	statements := map[string][]any{} // by role
	for _, id := range slices.Sorted(maps.Keys(doc.Resources)) {
		r := doc.Resources[id]
		properties, _ := r["Properties"].(map[string]any)
		switch r["Type"] {
		case "AWS::Lambda::Function":
			if err := function(r, properties); err != nil {
				return app{}, fmt.Errorf("%s: %w", id, err)
			}
		case "AWS::IAM::Role":
			for _, policy := range properties["Policies"].([]any) {
				statements[id] = b.each(statements[id], policy.(map[string]any)["PolicyDocument"])
			}
		case "AWS::IAM::ManagedPolicy":
			role := properties["Roles"].([]any)[0].(map[string]any)["Ref"].(string)
			statements[role] = b.each(statements[role], properties["PolicyDocument"])
			continue
		case "AWS::CloudWatch::Dashboard":
			body, err := b.body(properties["DashboardBody"])
			if err != nil {
				return app{}, fmt.Errorf("%s: %w", id, err)
			}
			properties["DashboardBody"] = body
		case "AWS::CloudWatch::Alarm":
			queries, _ := properties["Metrics"].([]any)
			for _, q := range queries {
				if query := q.(map[string]any); query["Expression"] != nil {
					query["Expression"] = expression(query["Expression"].(string))
				}
			}
		}
		a.resources[id] = r
	}
	for id, list := range statements {
		policy := a.resources[id]["Properties"].(map[string]any)["Policies"].([]any)[0].(map[string]any)
		policy["PolicyDocument"] = list
	}
	return a, nil
}

// function has its package from the bucket, and its settings of the parameters.
func function(r, properties map[string]any) error {
	own, _ := r["Metadata"].(map[string]any)
	folder, _ := own["Rollcall::Folder"].(string)
	name, ok := strings.CutPrefix(folder, "functions/")
	if !ok {
		return errors.New("its folder is not named")
	}
	r["Metadata"] = map[string]any{"Rollcall::Folder": folder}
	properties["Code"] = map[string]any{"S3Bucket": ref(p.CodeBucket), "S3Key": join([]any{ref(p.CodePrefix), name + ".zip"})}
	variables := properties["Environment"].(map[string]any)["Variables"].(map[string]any)
	for _, s := range config.Settings() {
		if s.Variable == config.SlackSecretARN || s.Variable == config.SigningARN || variables[string(s.Variable)] == nil {
			continue
		}
		value := ref(strings.ToUpper(s.Context[:1]) + s.Context[1:])
		if s.Variable == config.Channel {
			value = ifElse(hasChannel, value, config.NoChannel)
		}
		variables[string(s.Variable)] = value
	}
	return nil
}

// each adds the statements of a policy, one for each resource: which of them there are hangs
// on settings. What two statements allow stands there once.
func (b *builder) each(all []any, document any) []any {
	for _, s := range document.(map[string]any)["Statement"].([]any) {
		whole := s.(map[string]any)
		resources, ok := whole["Resource"].([]any)
		if !ok {
			resources = []any{whole["Resource"]}
		}
		for _, resource := range resources {
			one := maps.Clone(whole)
			one["Resource"] = resource
			if _, n := b.inKey(whole); n > 0 { // these are numbered by how many there are
				one["Sid"] = strings.TrimRight(whole["Sid"].(string), "0123456789")
			}
			one[sameAs] = canonical(one)
			if !slices.ContainsFunc(all, func(x any) bool { return identity(x) == identity(one) }) {
				all = append(all, one)
			}
		}
	}
	return all
}

// The places of references in a text.
const (
	hold    = "\u27e6"
	release = "\u27e7"
)

// body reads a JSON text with references in it.
func (b *builder) body(value any) (any, error) {
	text, ok := value.(string)
	if !ok {
		parts := value.(map[string]any)["Fn::Join"].([]any)[1].([]any)
		for _, part := range parts {
			if s, ok := part.(string); ok {
				text += s
				continue
			}
			name := canonical(part)
			key := fmt.Sprintf("%x", len(b.held))
			for k, v := range b.held {
				if canonical(v) == name {
					key = k
				}
			}
			b.held[key] = part
			text += hold + key + release
		}
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var tree any
	if err := dec.Decode(&tree); err != nil {
		return nil, fmt.Errorf("read a text in JSON: %w", err)
	}
	return map[string]any{textBody: tree}, nil
}

// expression takes the list out of "SUM([a,b])".
func expression(text string) any {
	open, shut := strings.Index(text, "["), strings.LastIndex(text, "]")
	if open < 0 || shut < open {
		return text
	}
	var items []any
	depth, begin := 0, open+1
	for i := open + 1; i <= shut; i++ {
		switch {
		case text[i] == '(':
			depth++
		case text[i] == ')':
			depth--
		case depth == 0 && (text[i] == ',' || i == shut):
			items, begin = append(items, text[begin:i]), i+1
		}
	}
	return map[string]any{textHead: text[:open+1], textList: items, textTail: text[shut:]}
}

// resources merges those of all templates.
func (b *builder) resources(read []app) (map[string]any, error) {
	places := map[string]values{}
	for n, a := range read {
		for id, r := range a.resources {
			if places[id] == nil {
				places[id] = values{}
			}
			places[id][n] = r
		}
	}
	all := numbers(len(read))
	out := map[string]any{}
	for _, id := range slices.Sorted(maps.Keys(places)) {
		of := places[id]
		var hangs []literal
		var err error
		if len(of) < len(all) {
			if hangs, err = b.when(of.numbers(), all); err != nil {
				return nil, fmt.Errorf("resource %s: %w", id, err)
			}
		}
		merged, err := b.merge(of)
		if err != nil {
			return nil, fmt.Errorf("resource %s: %w", id, err)
		}
		r := merged.(map[string]any)
		name, literals := b.itemOf(id, r)
		if p.ByName(name).Name != "" {
			name += Renamed // a resource and a parameter share no name
		}
		hangs = append(hangs, literals...)
		if r["Type"] == "AWS::IAM::Role" {
			if err := b.role(name, r, hangs, out); err != nil {
				return nil, fmt.Errorf("role %s: %w", name, err)
			}
		}
		filled, err := b.fill(r)
		if err != nil {
			return nil, fmt.Errorf("resource %s: %w", id, err)
		}
		r = filled.(map[string]any)
		if c := b.condition(hangs); c != "" {
			r["Condition"] = c
		}
		out[name] = r
	}
	return out, nil
}

func numbers(n int) []int {
	var all []int
	for i := range n {
		all = append(all, i)
	}
	return all
}

// itemOf says how a resource is called that there is for each item of a list, and on which
// item it hangs. The first is there where the list is.
func (b *builder) itemOf(id string, r map[string]any) (string, []literal) {
	properties, _ := r["Properties"].(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(properties)) {
		text, _ := properties[key].(string)
		l, n, whole := b.itemIn(text)
		if !whole {
			continue
		}
		if r["Type"] == "AWS::EKS::AccessEntry" {
			id = fmt.Sprintf("AccessEntry%d", n) // the app has the cluster's name in it
		}
		if n > 1 {
			return id, []literal{{name: b.slot(l, n)}}
		}
	}
	return id, nil
}

// outputs are those of the app, but for the clusters that are known only in the end.
func (b *builder) outputs(read []app) (map[string]any, error) {
	places := map[string]values{}
	for n, a := range read {
		for id, o := range a.outputs {
			if places[id] == nil {
				places[id] = values{}
			}
			places[id][n] = o
		}
	}
	out := map[string]any{}
	for _, id := range slices.Sorted(maps.Keys(places)) {
		of := places[id]
		var hangs []literal
		var err error
		if id == clusterRoleCommand {
			hangs = []literal{{name: hasRoleClusters}}
		} else if len(of) < len(read) {
			if hangs, err = b.when(of.numbers(), numbers(len(read))); err != nil {
				return nil, fmt.Errorf("output %s: %w", id, err)
			}
		}
		merged, err := b.merge(of)
		if err != nil {
			return nil, fmt.Errorf("output %s: %w", id, err)
		}
		filled, err := b.fill(merged)
		if err != nil {
			return nil, fmt.Errorf("output %s: %w", id, err)
		}
		o := filled.(map[string]any)
		if _, ok := o["Description"].(string); !ok {
			return nil, fmt.Errorf("output %s: its description must be a text", id)
		}
		if c := b.condition(hangs); c != "" {
			o["Condition"] = c
		}
		out[id] = o
	}
	return out, nil
}

const (
	clusterRoleCommand = "ClusterRoleCommand"
	hasRoleClusters    = "HasClusterRoleClusters"
	hasChannel         = "HasChannel"
	inVPC              = "InVpc"
	readsInstanceData  = "ReadsInstanceData"
	joinTimes          = "JoinTimes"
)

// itemIn finds the first item of a list in a text, and whether it is the whole text.
func (b *builder) itemIn(text string) (of list, n int, whole bool) {
	for i, l := range lists() {
		if found := b.items[i].FindStringSubmatch(text); found != nil {
			n, _ = strconv.Atoi(found[1])
			return l, n, found[0] == text
		}
	}
	return list{}, 0, false
}

// padded are the items of a list, with more than there can be: Fn::Select has an error for an
// item that is not there (CloudFormation user guide, "Fn::Select").
func (l list) padded() any {
	return map[string]any{"Fn::Split": []any{",", join([]any{ref(l.parameter), strings.Repeat(","+nothing, l.most)})}}
}

// nothing stands where a list has no item: none of them has such an item.
const nothing = "-"

func (l list) selected(n int) any {
	return map[string]any{"Fn::Select": []any{fmt.Sprint(n - 1), l.padded()}}
}

// slot is the condition that a list has an n-th item.
func (b *builder) slot(l list, n int) string {
	name := fmt.Sprintf("%s%d", l.parameter, n)
	b.slots[name] = not(map[string]any{"Fn::Equals": []any{l.selected(n), nothing}})
	return name
}

// all is the list itself, of whatever length.
func (l list) all() any {
	return map[string]any{"Fn::Split": []any{",", ref(l.parameter)}}
}

// fixed are the stand-ins of single values.
func fixed() map[string]any {
	region := func(parameter string) any {
		return map[string]any{"Fn::Select": []any{"3", map[string]any{"Fn::Split": []any{":", join([]any{ref(parameter), ":::::::"})}}}}
	}
	return map[string]any{
		stackName: ref("AWS::StackName"), strings.ToLower(stackName): ref(p.NamePrefix),
		slackSecret: ref(p.SlackSecretARN), slackRegion: region(p.SlackSecretARN),
		signSecret: ref(p.SigningSecretARN), signRegion: region(p.SigningSecretARN),
		slackKey: ref(p.SlackSecretKMSKey), targetKey: ref(p.TargetSecretKMSKey),
		boundary: ref(p.PermissionsBoundary), rolePath: ref(p.RolePath), stackKey: ref(p.KMSKey), alarmTopic: ref(p.AlarmTopicARN), alarmEmail: ref(p.AlarmEmail),
		strings.Join(accessClusters().items(), " "): map[string]any{"Fn::Join": []any{" ", map[string]any{"Fn::Split": []any{",", ref(p.ClusterRoleClusters)}}}},
	}
}

func accessClusters() list { return lists()[0] }

// counted are the stand-ins that are numbers, by the property that has them.
func counted() map[string]any {
	return map[string]any{
		fmt.Sprint("DelaySeconds ", joinMinutes*60): map[string]any{"Fn::FindInMap": []any{joinTimes, ref(p.JoinTime), "Seconds"}},
		fmt.Sprint("MaximumConcurrency ", sweepers): ref(p.SweepConcurrency),
		fmt.Sprint("RetentionInDays ", logDays):     ref(p.LogRetentionDays),
		fmt.Sprint("ExpirationInDays ", evidence):   ref(p.Evidence),
	}
}

// fill replaces the stand-ins by what they stand for.
func (b *builder) fill(node any) (any, error) {
	switch v := node.(type) {
	case string:
		parts := b.parts(v)
		if len(parts) == 1 {
			return parts[0], nil
		}
		return join(parts), nil
	case []any:
		return b.fillList(v)
	case map[string]any:
		return b.fillObject(v)
	}
	return node, nil
}

func (b *builder) fillObject(v map[string]any) (any, error) {
	if tree, ok := v[textBody]; ok {
		parts, err := b.text(tree)
		if err != nil {
			return nil, err
		}
		return b.fill(join(parts))
	}
	if head, ok := v[textHead].(string); ok {
		parts, err := b.commas(v[textList].([]any), func(item any) ([]any, error) { return []any{item}, nil })
		if err != nil {
			return nil, err
		}
		return b.fill(join(slices.Concat([]any{head}, parts, []any{v[textTail]})))
	}
	if parts, ok := v["Fn::Join"].([]any); ok && parts[0] == "" {
		var flat []any
		for _, part := range parts[1].([]any) {
			if s, ok := part.(string); ok {
				flat = append(flat, b.parts(s)...)
				continue
			}
			filled, err := b.fill(part)
			if err != nil {
				return nil, err
			}
			flat = append(flat, filled)
		}
		if flat = adjoined(flat); len(flat) == 1 {
			return flat[0], nil
		}
		return join(flat), nil
	}
	if args, ok := v["Fn::If"].([]any); ok { // no list of items
		var filled [2]any
		for i := range filled {
			var err error
			if filled[i], err = b.fill(args[i+1]); err != nil {
				return nil, err
			}
		}
		return ifElse(args[0].(string), filled[0], filled[1]), nil
	}
	out := map[string]any{}
	for key, value := range v {
		if key == sameAs {
			continue
		}
		if _, isNumber := value.(json.Number); isNumber {
			if expr, ok := counted()[key+" "+value.(json.Number).String()]; ok {
				out[key] = expr
				continue
			}
		}
		filled, err := b.fill(value)
		if err != nil {
			return nil, err
		}
		out[key] = filled
	}
	return out, nil
}

// fillList has every item of a list whose number is not fixed hang on there being so many.
func (b *builder) fillList(v []any) (any, error) {
	if l, ok := exactly(v); ok {
		return l.all(), nil
	}
	out := []any{}
	for _, element := range v {
		filled, err := b.fill(element)
		if err != nil {
			return nil, err
		}
		if l, n := b.hangsOn(element); n > 1 {
			filled = ifElse(b.slot(l, n), filled, noValue())
		}
		out = append(out, filled)
	}
	return out, nil
}

// hangsOn is the item that a text of a list is made of.
func (b *builder) hangsOn(element any) (list, int) {
	switch v := element.(type) {
	case string:
		l, n, _ := b.itemIn(v)
		return l, n
	case map[string]any:
		if parts, ok := v["Fn::Join"].([]any); ok {
			for _, part := range parts[1].([]any) {
				if s, ok := part.(string); ok {
					if l, n, _ := b.itemIn(s); n > 0 {
						return l, n
					}
				}
			}
		}
	}
	return list{}, 0
}

// exactly is the list whose items are all of these texts, and no others.
func exactly(v []any) (list, bool) {
	for _, l := range lists() {
		if slices.EqualFunc(v, l.items(), func(a any, item string) bool { return a == item }) {
			return l, true
		}
	}
	return list{}, false
}

// parts splits a text at its stand-ins.
func (b *builder) parts(text string) []any {
	var out []any
	for text != "" {
		at := b.standIn.FindStringIndex(text)
		if at == nil {
			return append(out, text)
		}
		if at[0] > 0 {
			out = append(out, text[:at[0]])
		}
		found := text[at[0]:at[1]]
		text = text[at[1]:]
		if expr, ok := b.fixed[found]; ok {
			out = append(out, expr)
		} else if key, ok := strings.CutPrefix(found, hold); ok {
			out = append(out, b.held[strings.TrimSuffix(key, release)])
		} else {
			l, n, _ := b.itemIn(found)
			out = append(out, l.selected(n))
		}
	}
	if out == nil {
		return []any{""}
	}
	return out
}

// adjoined joins texts that stand beside each other.
func adjoined(parts []any) []any {
	var out []any
	for _, part := range parts {
		text, ok := part.(string)
		if ok && len(out) > 0 {
			if before, isText := out[len(out)-1].(string); isText {
				out[len(out)-1] = before + text
				continue
			}
		}
		out = append(out, part)
	}
	return out
}

// text writes a JSON value as the parts of a text. A part that hangs on a condition is a text
// of its own, with the comma before it.
func (b *builder) text(node any) ([]any, error) {
	switch v := node.(type) {
	case []any:
		parts, err := b.commas(v, b.text)
		return slices.Concat([]any{"["}, parts, []any{"]"}), err
	case map[string]any:
		if isCall(v) { // of a statement: a text, and in it the reference
			return []any{`"`, v, `"`}, nil
		}
		parts := []any{"{"}
		for i, key := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				parts = append(parts, ",")
			}
			value, err := b.text(v[key])
			if err != nil {
				return nil, err
			}
			parts = slices.Concat(parts, []any{quoted(key) + ":"}, value)
		}
		return append(parts, "}"), nil
	}
	return []any{quoted(node)}, nil
}

func quoted(v any) string {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("standard: a text cannot be written as JSON: " + err.Error())
	}
	return strings.TrimSpace(out.String())
}

var errFirst = errors.New("the first of a list in a text must always be there")

// commas writes the elements of a list in a text.
func (b *builder) commas(elements []any, write func(any) ([]any, error)) ([]any, error) {
	var out []any
	for i, element := range elements {
		condition := ""
		if call, ok := element.(map[string]any); ok && call["Fn::If"] != nil {
			args := call["Fn::If"].([]any)
			condition, element = args[0].(string), args[1]
		}
		parts, err := write(element)
		switch {
		case err != nil:
			return nil, err
		case condition == "" && i == 0:
			out = append(out, parts...)
		case condition == "":
			out = slices.Concat(out, []any{","}, parts)
		case i == 0:
			return nil, errFirst
		default:
			out = append(out, ifElse(condition, join(slices.Concat([]any{","}, parts)), ""))
		}
	}
	return out, nil
}

// conditions are those that stand somewhere, with what they are made of.
func (b *builder) conditions(whole map[string]any) map[string]any {
	defined := map[string]any{
		hasChannel:      given(p.SlackChannel),
		hasRoleClusters: given(p.ClusterRoleClusters),
	}
	for _, c := range choices() {
		defined[c.name] = c.when
	}
	maps.Copy(defined, b.slots)
	for name, list := range b.used {
		var all []any
		for _, l := range list {
			var one any = map[string]any{"Condition": l.name}
			if l.not {
				one = not(one)
			}
			all = append(all, one)
		}
		if len(all) == 1 {
			defined[name] = all[0]
			continue
		}
		defined[name] = map[string]any{"Fn::And": all}
	}
	used := map[string]any{}
	var need func(name string)
	need = func(name string) {
		if _, there := used[name]; there {
			return
		}
		used[name] = defined[name]
		for _, l := range b.used[name] {
			need(l.name)
		}
	}
	var walk func(node any)
	walk = func(node any) {
		switch v := node.(type) {
		case []any:
			for _, x := range v {
				walk(x)
			}
		case map[string]any:
			if args, ok := v["Fn::If"].([]any); ok {
				need(args[0].(string))
			}
			if name, ok := v["Condition"].(string); ok {
				need(name)
			}
			for _, x := range v {
				walk(x)
			}
		}
	}
	walk(whole["Resources"])
	walk(whole["Outputs"])
	return used
}

// group is a statement of a role, with all its resources.
type group struct {
	hangs     string // a condition; "" for none
	sid       string
	body      map[string]any
	resources []any
}

// shared is a managed policy of statements that hang on the same condition.
type shared struct {
	hangs      string
	statements []any
	size       int
}

// role puts a role's statements where they fit: those that are always there and small ones
// into the role, the others into managed policies that hang on their conditions.
func (b *builder) role(id string, r map[string]any, hangs []literal, out map[string]any) error {
	policy := r["Properties"].(map[string]any)["Policies"].([]any)[0].(map[string]any)
	groups := grouped(policy["PolicyDocument"].([]any))
	// What Lambda asks for when the function is made comes first (package main, spread), then
	// what is always there, or is small and there by default, then the smallest.
	slices.SortStableFunc(groups, func(x, y group) int {
		return cmp.Or(cmp.Compare(x.rank(), y.rank()), cmp.Compare(x.size(b), y.size(b)))
	})
	named := map[string]int{}
	room := limits.InlinePolicies - limits.Document
	inline, more := []any{}, []any{}
	var apart []shared
	keyed := map[string][]group{} // by the list whose items stand in a key
	managed := 0
	for _, g := range groups {
		if l, n := b.inKey(g.body); n > 0 {
			keyed[l.parameter] = append(keyed[l.parameter], g)
			continue
		}
		s := g.statement(named)
		size := b.size(s)
		switch {
		case size <= room:
			room -= size
			if g.hangs != "" {
				inline = append(inline, ifElse(g.hangs, s, noValue()))
			} else {
				inline = append(inline, s)
			}
		case g.hangs == inVPC:
			return fmt.Errorf("the role has no room for %s, which Lambda asks for at once", g.sid)
		case g.hangs == "":
			more = append(more, s)
		case size > limits.ManagedPolicy-limits.Document:
			return fmt.Errorf("the statement %s can be of %d characters", g.sid, size)
		default:
			i := slices.IndexFunc(apart, func(x shared) bool { return x.hangs == g.hangs && x.size+size <= limits.ManagedPolicy-limits.Document })
			if i < 0 {
				i, apart = len(apart), append(apart, shared{hangs: g.hangs})
			}
			apart[i].statements, apart[i].size = append(apart[i].statements, s), apart[i].size+size
		}
	}
	for _, x := range apart {
		name := x.statements[0].(map[string]any)["Sid"].(string)
		if err := b.managed(id+name, id, document(x.statements), slices.Concat(hangs, literals(x.hangs)), out); err != nil {
			return err
		}
		managed++
	}
	policy["PolicyDocument"] = document(inline)
	if len(more) > 0 {
		if size := b.size(more); size > limits.ManagedPolicy-limits.Document {
			return fmt.Errorf("what the role has no room for can be of %d characters", size)
		}
		if err := b.managed(id+"More", id, document(more), hangs, out); err != nil {
			return err
		}
		managed++
	}
	for _, l := range lists() {
		for i, some := range slices.Collect(slices.Chunk(keyed[l.parameter], keyedTogether)) {
			if err := b.keyed(fmt.Sprint(id, "Keys", l.parameter, i+1), id, l, some, hangs, named, out); err != nil {
				return err
			}
			managed++
		}
	}
	if managed > limits.ManagedPolicies {
		return fmt.Errorf("%d managed policies", managed)
	}
	return nil
}

// keyedTogether is how many statements of clusters with the longest names a managed policy
// has room for.
const keyedTogether = 16

// referenced is how many characters the references of such a statement have as they are
// written in the template: {"Fn::Join":…} with partition, region and account.
const referenced = 150

func literals(condition string) []literal {
	if condition == "" {
		return nil
	}
	return []literal{{name: condition}}
}

func document(statements any) map[string]any {
	return map[string]any{"Version": "2012-10-17", "Statement": statements}
}

// managed adds a managed policy of a role.
func (b *builder) managed(id, role string, policy any, hangs []literal, out map[string]any) error {
	filled, err := b.fill(policy)
	if err != nil {
		return err
	}
	r := map[string]any{"Type": "AWS::IAM::ManagedPolicy", "Properties": map[string]any{
		"Description": "What a role of Rollcall may do where settings have it", "PolicyDocument": filled, "Roles": []any{ref(role)},
	}}
	if c := b.condition(hangs); c != "" {
		r["Condition"] = c
	}
	if out[id] != nil {
		return fmt.Errorf("two resources are called %s", id)
	}
	out[id] = r
	return nil
}

// keyed adds a policy whose conditions have a cluster's name in a key. CloudFormation computes
// no key of an object, but it takes a policy as a text (the registry's schema of
// AWS::IAM::ManagedPolicy: PolicyDocument is an object or a string).
func (b *builder) keyed(id, role string, l list, groups []group, hangs []literal, named map[string]int, out map[string]any) error {
	var parts []any
	size := limits.Document + p.ByName(l.parameter).Longest
	for i, g := range groups {
		_, n := b.inKey(g.body)
		s := g.statement(named)
		size += len(canonical(s)) + len("arn:aws-us-gov:ap-southeast-1:123456789012")
		text, err := b.text(s)
		if err != nil {
			return err
		}
		if i == 0 {
			parts = append(parts, text...)
			hangs = slices.Concat(hangs, literals(g.hangs))
			if n > 1 {
				hangs = append(hangs, literal{name: b.slot(l, n)})
			}
			continue
		}
		parts = append(parts, ifElse(b.slot(l, n), join(slices.Concat([]any{","}, text)), ""))
	}
	if size > limits.ManagedPolicy+len(groups)*referenced {
		return fmt.Errorf("the statements of %s can be of %d characters", l.parameter, size)
	}
	return b.managed(id, role, join(slices.Concat([]any{`{"Version":"2012-10-17","Statement":[`}, parts, []any{"]}"})), hangs, out)
}

func (g group) rank() int {
	switch g.hangs {
	case inVPC:
		return 0
	case "", readsInstanceData:
		return 1
	}
	return 2
}

// size is 0 for what is there by default, whose order stays as it is.
func (g group) size(b *builder) int {
	if g.rank() == 1 {
		return 0
	}
	return b.size(g.body) + b.size(g.resources)
}

// grouped are the statements of a role, those of one kind with all resources.
func grouped(elements []any) []group {
	var all []group
	var keys []string
	for _, element := range elements {
		one := element.(map[string]any)
		condition := ""
		if call, ok := one["Fn::If"].([]any); ok {
			condition, one = call[0].(string), call[1].(map[string]any)
		}
		body := maps.Clone(one)
		resource := body["Resource"]
		delete(body, "Resource")
		delete(body, sameAs)
		key := condition + canonical(body)
		i := slices.Index(keys, key)
		if i < 0 {
			i = len(all)
			keys = append(keys, key)
			all = append(all, group{hangs: condition, sid: body["Sid"].(string), body: body})
		}
		all[i].resources = append(all[i].resources, resource)
	}
	return all
}

// statement is the group as one statement, whose id no other of the role has.
func (g group) statement(named map[string]int) map[string]any {
	s := maps.Clone(g.body)
	if named[g.sid]++; named[g.sid] > 1 {
		s["Sid"] = fmt.Sprint(g.sid, named[g.sid])
	}
	s["Resource"] = g.resources
	return s
}

// inKey finds an item of a list in a key of a statement's conditions.
func (b *builder) inKey(statement map[string]any) (list, int) {
	operators, _ := statement["Condition"].(map[string]any)
	for _, keys := range operators {
		for key := range keys.(map[string]any) {
			if l, n, _ := b.itemIn(key); n > 0 {
				return l, n
			}
		}
	}
	return list{}, 0
}

// size is how many characters a statement has at most, with the lists as long as their
// parameters can be. White space is not counted (IAM and STS quotas).
func (b *builder) size(statement any) int {
	total := len(",")
	seen := map[string]bool{}
	var walk func(node any)
	walk = func(node any) {
		switch v := node.(type) {
		case string:
			total += len(v) + len(`"",`)
			if l, n, _ := b.itemIn(v); n > 0 {
				if !seen[l.parameter] {
					total += p.ByName(l.parameter).Longest * 107 / 100 // and quotes
				}
				seen[l.parameter] = true
			}
			for text := range b.fixed {
				if strings.Contains(v, text) {
					total += longestValue
				}
			}
		case []any:
			total += 2
			for _, x := range v {
				walk(x)
			}
		case map[string]any:
			switch {
			case v["Ref"] != nil:
				total += len("ap-southeast-1") // a partition, a region, an account
				if name := v["Ref"].(string); !strings.HasPrefix(name, "AWS::") {
					total += longestValue
				}
			case v["Fn::GetAtt"] != nil:
				total += longestValue
			case v["Fn::Join"] != nil:
				for _, part := range v["Fn::Join"].([]any)[1].([]any) {
					walk(part)
				}
			default:
				total += 2
				for key, x := range v {
					if key != sameAs {
						total += len(key) + len(`"":,`)
						walk(x)
					}
				}
			}
		}
	}
	walk(statement)
	return total
}

// longestValue is the longest ARN of a resource of the stack.
const longestValue = 110
