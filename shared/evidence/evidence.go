package evidence

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"rollcall/shared/capture"
	"rollcall/shared/config"
	"rollcall/shared/event/inbox"
	"rollcall/shared/node/userdata"
	"rollcall/shared/redact"
	"rollcall/shared/spec"
)

// mostArchive bounds what is kept of one look, in bytes as they are kept.
const mostArchive = 4 << 20

// About is what evidence is of, as evidence.json has it.
type About struct {
	// By is the function, and Release that of which it was built.
	By      string `json:"by"`
	Release string `json:"release,omitempty"`
	Account string `json:"account"`
	Region  string `json:"region"`
	Cluster string `json:"cluster"`
	// At is when the function looked.
	At time.Time `json:"at"`
	// Causes are what it found.
	Causes []Cause `json:"causes"`
	// Feedback is what people said of the incident since; rollcall replay adds it.
	Feedback []Feedback `json:"feedback,omitempty"`
}

// Feedback is what a person said of an incident: "right", "wrong cause" or "not useful".
type Feedback struct {
	By   string    `json:"by"`
	At   time.Time `json:"at"`
	Says string    `json:"says"`
	Text string    `json:"text,omitempty"`
}

// Cause is one cause that was found.
type Cause struct {
	Check    string `json:"check"`
	Resource string `json:"resource"`
}

// AboutFile is the file that tells what the evidence is of.
const AboutFile = "evidence.json"

// Archive is what was read of a cluster, as a capture in a .tar.gz. What does not fit is
// left out, and listed.
func (r *Recorder) Archive(about About) ([]byte, error) {
	trigger, reads := r.all()
	return archive(about, trigger, reads)
}

// archive packs reads and what woke the function.
func archive(about About, trigger json.RawMessage, reads []read) ([]byte, error) {
	reads = slices.DeleteFunc(reads, func(one read) bool { return !concerns(one.file, about.Cluster) })
	secrets := redact.New(redact.Masked)
	byFile := map[string][]read{}
	for _, one := range reads {
		byFile[one.file] = append(byFile[one.file], one)
	}
	p := pack{at: about.At, room: mostArchive}
	raw, err := json.MarshalIndent(about, "", " ")
	if err != nil {
		return nil, fmt.Errorf("write what it is of: %w", err)
	}
	p.add(p.member(AboutFile, append(raw, '\n')))
	p.add(p.member("time.txt", []byte(about.At.UTC().Format(time.RFC3339)+"\n")))
	var left []capture.LeftOut
	files, refused, scope := map[string][]byte{}, map[string]capture.Refusal{}, Scope{}
	for name, list := range byFile {
		f, err := fileOf(list, secrets)
		switch {
		case err != nil:
			left = append(left, capture.LeftOut{File: name, Why: err.Error()})
			continue
		case f.data != nil:
			files[name] = p.member(name+".json", f.data)
			if f.asked != nil {
				scope[name] = f.asked
			}
		case f.refused != nil:
			refused[name] = *f.refused
		}
		if f.lost {
			left = append(left, capture.LeftOut{File: name, Why: fmt.Sprintf("more was read at once than the %d MiB that are held", mostHeld>>20)})
		}
	}
	calls, err := recordsOf(trigger, secrets)
	if err != nil {
		return nil, err
	}
	for name, data := range calls {
		files[name] = p.member(name+".json", data)
	}
	// The smallest first: what does not fit is the fewest files.
	names := slices.SortedFunc(maps.Keys(files), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(files[a]), len(files[b])), strings.Compare(a, b))
	})
	for _, name := range names {
		if !p.add(files[name]) {
			delete(scope, name)
			left = append(left, capture.LeftOut{File: name, Why: fmt.Sprintf("what is kept of one look is at most %d MiB", mostArchive>>20)})
		}
	}
	slices.SortFunc(left, func(a, b capture.LeftOut) int {
		return cmp.Or(strings.Compare(a.File, b.File), strings.Compare(a.Why, b.Why))
	})
	for _, list := range []struct {
		name  string
		value any
		any   bool
	}{{"errors.json", refused, len(refused) > 0}, {AskedFile, scope, len(scope) > 0}, {"left-out.json", slices.Compact(left), len(left) > 0}} {
		if !list.any {
			continue
		}
		raw, err := json.MarshalIndent(list.value, "", " ")
		if err != nil {
			return nil, fmt.Errorf("write %s: %w", list.name, err)
		}
		p.room = max(p.room, mostLists)
		p.add(p.member(list.name, append(raw, '\n')))
	}
	return p.bytes()
}

// mostLists is kept free for what describes the whole.
const mostLists = 1 << 20

// concerns reports whether a file is of a cluster, or of the account.
func concerns(file, cluster string) bool {
	operation, keys, keyed := strings.Cut(file, ".")
	if !keyed || !strings.HasPrefix(operation, "eks-") && !strings.HasPrefix(operation, "kubectl-") {
		return true
	}
	name, _, _ := strings.Cut(keys, ".")
	return name == capture.FileKey(cluster)
}

// file is a file that was put together.
type file struct {
	data []byte // nil where there is none
	// asked is what was asked for, nil where that is all that there is.
	asked []Asked
	// refused is how all was refused.
	refused *capture.Refusal
	// lost reports whether something was answered that is not held any more.
	lost bool
}

// fileOf is the file of several reads.
func fileOf(list []read, secrets *redact.Redactor) (f file, err error) {
	d := document{secrets: secrets}
	answered, whole := false, false
	for _, q := range questionsOf(list) {
		last := q[len(q)-1]
		switch {
		case slices.ContainsFunc(q, func(one read) bool { return one.lost }):
			f.lost = true // pages that are left are no list
			continue
		case last.refused != nil:
			f.refused = last.refused
			f.asked = append(f.asked, Asked{last.question, last.refused})
			continue
		}
		for _, one := range q {
			if one.refused != nil || isNil(one.out) && one.body == nil {
				continue
			}
			if err := d.add(one); err != nil {
				return file{}, err
			}
			answered = true
		}
		whole = whole || len(last.question) == 0
		f.asked = append(f.asked, Asked{Question: last.question})
	}
	if whole {
		f.asked = nil
	}
	if answered {
		f.data, f.refused = d.bytes(), nil
	}
	return f, nil
}

// questionsOf sorts reads by their questions, which are as many calls as there were pages.
func questionsOf(list []read) [][]read {
	var all [][]read
	for _, one := range list {
		i := slices.IndexFunc(all, func(q []read) bool { return maps.EqualFunc(q[0].question, one.question, slices.Equal) })
		if i < 0 {
			all = append(all, []read{one})
			continue
		}
		all[i] = append(all[i], one)
	}
	return all
}

// recordsOf are the files of CloudTrail's records of calls for instances that woke the
// function: no read has them.
func recordsOf(trigger json.RawMessage, secrets *redact.Redactor) (map[string][]byte, error) {
	messages, ok := inbox.Batch(trigger)
	if !ok {
		return nil, nil
	}
	type record struct {
		ID    string `json:"EventId"`
		Name  string `json:"EventName"`
		Event string `json:"CloudTrailEvent"`
	}
	byName := map[string][]record{}
	for _, m := range messages {
		var e struct {
			Detail json.RawMessage `json:"detail"`
		}
		var told struct {
			ID   string `json:"eventID"`
			Name string `json:"eventName"`
		}
		if json.Unmarshal([]byte(m.Body), &e) != nil || json.Unmarshal(e.Detail, &told) != nil {
			continue
		}
		if told.Name == "CreateFleet" || told.Name == "RunInstances" {
			byName[told.Name] = append(byName[told.Name], record{told.ID, told.Name, secrets.JSON(string(e.Detail))})
		}
	}
	files := map[string][]byte{}
	for name, list := range byName {
		raw, err := json.Marshal(map[string]any{"Events": list})
		if err != nil {
			return nil, fmt.Errorf("write CloudTrail's records: %w", err)
		}
		files[capture.FileName("cloudtrail-lookup-events", name)] = raw
	}
	return files, nil
}

// pack is an archive in the making. Each file is a member of its own in the stream of
// gzip, whose members follow each other (RFC 1952, 2.2): so its size is known before it is
// in.
type pack struct {
	at   time.Time
	room int
	out  bytes.Buffer
	// packer is used for one file after the other: each of its own takes 800 KB.
	packer *gzip.Writer
}

// packing returns the packer, which writes to a buffer from now on.
func (p *pack) packing(to *bytes.Buffer) *gzip.Writer {
	if p.packer == nil {
		p.packer = gzip.NewWriter(to)
	}
	p.packer.Reset(to)
	return p.packer
}

// member is a file as it stands in the archive.
func (p *pack) member(name string, data []byte) []byte {
	var b bytes.Buffer
	z := p.packing(&b)
	t := tar.NewWriter(z)
	// Writing to a bytes.Buffer does not fail. Flush fills the last block, and does not
	// write the archive's end, as Close would.
	_ = t.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(data)), ModTime: p.at, Format: tar.FormatPAX})
	_, _ = t.Write(data)
	_ = t.Flush()
	_ = z.Close()
	return b.Bytes()
}

// add adds a file, and tells if there was room for it.
func (p *pack) add(member []byte) bool {
	if len(member) > p.room {
		return false
	}
	p.room -= len(member)
	p.out.Write(member)
	return true
}

// bytes is the whole archive.
func (p *pack) bytes() ([]byte, error) {
	z := p.packing(&p.out)
	if err := tar.NewWriter(z).Close(); err != nil {
		return nil, fmt.Errorf("end the archive: %w", err)
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("end the archive: %w", err)
	}
	return p.out.Bytes(), nil
}

// document is a file that is put together of several answers.
type document struct {
	secrets *redact.Redactor
	order   []string
	members map[string]*member
}

// member is a list, whose items are each kept once, or a value.
type member struct {
	value json.RawMessage
	list  bool
	order []string
	items map[string]json.RawMessage
}

func (d *document) member(name string) *member {
	if m, ok := d.members[name]; ok {
		return m
	}
	if d.members == nil {
		d.members = map[string]*member{}
	}
	m := &member{}
	d.members[name], d.order = m, append(d.order, name)
	return m
}

// put keeps an item, the newest of each key.
func (m *member) put(key string, item json.RawMessage) {
	if m.items == nil {
		m.items = map[string]json.RawMessage{}
	}
	if key == "" {
		key = string(item)
	}
	if _, known := m.items[key]; !known {
		m.order = append(m.order, key)
	}
	m.items[key] = item
}

// bytes is the file.
func (d *document) bytes() []byte {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, name := range d.order {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n ")
		quote(&b, name)
		b.WriteString(": ")
		m := d.members[name]
		if !m.list {
			b.Write(m.value)
			continue
		}
		b.WriteByte('[')
		for k, key := range m.order {
			if k > 0 {
				b.WriteByte(',')
			}
			b.WriteString("\n  ")
			b.Write(m.items[key])
		}
		b.WriteByte(']')
	}
	b.WriteString("\n}\n")
	return b.Bytes()
}

// add takes in an answer.
func (d *document) add(r read) error {
	if r.out == nil {
		return d.addKubernetes(r)
	}
	service, _, _ := strings.Cut(r.call, ":")
	switch service {
	case "cloudwatchlogs", "route53", "route53resolver", "route53profiles", "arczonalshift": // clients of our own, whose types are JSON's
		raw, err := json.Marshal(r.out)
		if err != nil {
			return fmt.Errorf("write the answer: %w", err)
		}
		return d.addJSON(raw)
	}
	d.addAnswer(encoder{lower: service == "eks", secrets: d.secrets}, reflect.Indirect(reflect.ValueOf(r.out)))
	return nil
}

// paging tells members that are about pages.
func paging(name string) bool {
	switch name {
	case "NextToken", "nextToken", "Marker", "IsTruncated", "ResultMetadata":
		return true
	}
	return false
}

func (d *document) addAnswer(e encoder, v reflect.Value) {
	for i := range v.NumField() {
		f, field := v.Type().Field(i), v.Field(i)
		isList := f.Type.Kind() == reflect.Slice
		if !f.IsExported() || paging(f.Name) || unset(field) && !isList {
			continue
		}
		m := d.member(e.name(f.Name))
		if !isList {
			var b bytes.Buffer
			e.value(&b, field, f.Name)
			m.value = b.Bytes()
			continue
		}
		m.list = true
		for k := range field.Len() {
			if item := field.Index(k); f.Name == "Reservations" {
				e.instances(m, item)
			} else {
				var b bytes.Buffer
				e.value(&b, item, f.Name)
				m.put(idOf(item), b.Bytes())
			}
		}
	}
}

// instances keeps each instance in a reservation of its own: several answers have some of
// one reservation each.
func (e encoder) instances(m *member, reservation reflect.Value) {
	list := reservation.FieldByName("Instances")
	for i := range list.Len() {
		one := reflect.New(reservation.Type()).Elem()
		one.Set(reservation)
		one.FieldByName("Instances").Set(list.Slice(i, i+1))
		var b bytes.Buffer
		e.object(&b, one)
		m.put(idOf(list.Index(i)), b.Bytes())
	}
}

// idOf is the id of a resource; "" for what has none: it is known by all that it is.
func idOf(v reflect.Value) string {
	v = reflect.Indirect(v)
	if v.Kind() != reflect.Struct {
		return ""
	}
	name := v.Type().Name()
	field := name + "Id"
	switch name {
	case "SecurityGroup":
		field = "GroupId"
	case "InstanceTypeInfo":
		field = "InstanceType"
	case "AutoScalingGroup":
		field = "AutoScalingGroupName"
	case "InstanceStatus":
		field = "InstanceId"
	case "AvailabilityZone":
		field = "ZoneName"
	}
	if f := v.FieldByName(field); f.IsValid() {
		if list := texts(f); len(list) == 1 {
			return list[0]
		}
	}
	return ""
}

// addJSON takes in an answer that is JSON.
func (d *document) addJSON(raw []byte) error {
	var tree map[string]json.RawMessage
	if err := json.Unmarshal(raw, &tree); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	for name, value := range tree {
		if paging(name) {
			continue
		}
		m := d.member(name)
		var list []json.RawMessage
		if json.Unmarshal(value, &list) != nil {
			m.value = json.RawMessage(d.secrets.JSON(string(value)))
			continue
		}
		m.list = true
		for _, item := range list {
			m.put("", json.RawMessage(d.secrets.JSON(string(item))))
		}
	}
	return nil
}

// addKubernetes takes in a page of a list, or an object, as kubectl prints it.
func (d *document) addKubernetes(r read) error {
	body, err := r.text()
	if err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	var page struct {
		APIVersion string            `json:"apiVersion"`
		Kind       string            `json:"kind"`
		Items      []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(body, &page); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	kind, isList := strings.CutSuffix(page.Kind, "List")
	if !isList {
		return d.addObject(body)
	}
	m := d.member("items")
	m.list = true
	for _, raw := range page.Items {
		object, err := d.objectOf(raw)
		if err != nil {
			return err
		}
		// The items of a list do not say what they are; kubectl adds it.
		object["apiVersion"], object["kind"] = page.APIVersion, kind
		meta, _ := object["metadata"].(map[string]any)
		item, err := json.Marshal(object)
		if err != nil {
			return fmt.Errorf("write an object: %w", err)
		}
		m.put(fmt.Sprint(meta["namespace"], "/", meta["name"]), item)
	}
	d.member("apiVersion").value, d.member("kind").value = json.RawMessage(`"v1"`), json.RawMessage(`"List"`)
	return nil
}

func (d *document) addObject(body []byte) error {
	object, err := d.objectOf(body)
	if err != nil {
		return err
	}
	for name, value := range object {
		raw, err := json.Marshal(value)
		if err != nil {
			return fmt.Errorf("write an object: %w", err)
		}
		d.member(name).value = raw
	}
	return nil
}

// objectOf is an object of Kubernetes without its fields' managers and its secrets.
func (d *document) objectOf(raw []byte) (map[string]any, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var object map[string]any
	if err := decoder.Decode(&object); err != nil {
		return nil, fmt.Errorf("read an object: %w", err)
	}
	if meta, ok := object["metadata"].(map[string]any); ok {
		delete(meta, "managedFields")
	}
	object, _ = d.secrets.Tree("", object).(map[string]any)
	return object, nil
}

// Printed is an SDK's output as the AWS CLI prints it, with its secrets: JSON. lower is whether
// the API's names begin with small letters.
func Printed(out any, lower bool) []byte {
	var b bytes.Buffer
	encoder{lower: lower}.object(&b, reflect.Indirect(reflect.ValueOf(out)))
	return b.Bytes()
}

// encoder writes what the SDK made of an answer as the AWS CLI prints it: members by the
// names of the API, which the SDK writes with a capital letter, lists and texts as they
// are, times in ISO 8601, and no secrets.
type encoder struct {
	// lower reports whether the API's names begin small: EKS's do, EC2's, Auto Scaling's and
	// IAM's do not (botocore's models).
	lower bool
	// secrets replaces secrets; nil keeps them.
	secrets *redact.Redactor
}

func (e encoder) name(field string) string {
	if e.lower {
		return strings.ToLower(field[:1]) + field[1:]
	}
	return field
}

// object writes the members of a struct. Those that are not set are left out.
func (e encoder) object(b *bytes.Buffer, v reflect.Value) {
	b.WriteByte('{')
	first := true
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.IsExported() || unset(v.Field(i)) {
			continue
		}
		if !first {
			b.WriteByte(',')
		}
		first = false
		quote(b, e.name(f.Name))
		b.WriteByte(':')
		e.value(b, v.Field(i), f.Name)
	}
	b.WriteByte('}')
}

// unset tells what the SDK has for a member that was not in the answer.
func unset(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface:
		return v.IsNil()
	case reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return v.Type().NumField() == 0 || strings.HasSuffix(v.Type().PkgPath(), "smithy-go/middleware") || v.Type().Name() == "noSmithyDocumentSerde"
	}
	return false
}

func (e encoder) value(b *bytes.Buffer, v reflect.Value, field string) {
	switch v.Kind() {
	case reflect.Pointer:
		e.value(b, v.Elem(), field)
	case reflect.Struct:
		if at, is := v.Interface().(time.Time); is {
			quote(b, at.UTC().Format("2006-01-02T15:04:05.999999+00:00"))
			return
		}
		if field == "UserData" { // an attribute's value, which is in an object
			if f := v.FieldByName("Value"); f.IsValid() && !f.IsZero() {
				b.WriteString(`{"Value":`)
				e.value(b, f, field)
				b.WriteByte('}')
				return
			}
		}
		e.object(b, v)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			quote(b, base64.StdEncoding.EncodeToString(v.Bytes()))
			return
		}
		b.WriteByte('[')
		for i := range v.Len() {
			if i > 0 {
				b.WriteByte(',')
			}
			e.value(b, v.Index(i), field)
		}
		b.WriteByte(']')
	case reflect.Map:
		b.WriteByte('{')
		for i, key := range v.MapKeys() {
			if i > 0 {
				b.WriteByte(',')
			}
			quote(b, key.String())
			b.WriteByte(':')
			e.value(b, v.MapIndex(key), key.String())
		}
		b.WriteByte('}')
	case reflect.String:
		e.text(b, v.String(), field)
	case reflect.Bool:
		b.WriteString(strconv.FormatBool(v.Bool()))
	case reflect.Int32, reflect.Int64, reflect.Int:
		b.WriteString(strconv.FormatInt(v.Int(), 10))
	case reflect.Float32, reflect.Float64:
		b.WriteString(strconv.FormatFloat(v.Float(), 'g', -1, 64))
	default:
		b.WriteString("null")
	}
}

// text writes a text without its secrets. Two kinds are decoded as the CLI decodes them:
// policies, and what a console printed.
func (e encoder) text(b *bytes.Buffer, text, field string) {
	if strings.HasSuffix(field, "Document") {
		if plain, err := url.PathUnescape(text); err == nil && json.Valid([]byte(plain)) {
			b.WriteString(plain)
			return
		}
	}
	if field == "Output" {
		if plain, err := base64.StdEncoding.DecodeString(text); err == nil {
			text = latin1(plain)
		}
	}
	if e.secrets != nil {
		text = e.kept(text, field)
	}
	quote(b, text)
}

// kept is what is kept of a text: no secrets, and of user data no more than what checks read.
func (e encoder) kept(text, field string) string {
	if field == "UserData" {
		if plain, pack, ok := redact.Script(text); ok {
			text = pack(userdata.Essential(plain))
		} else {
			text = userdata.Essential(text)
		}
	}
	return e.secrets.Value(field, text)
}

// latin1 is what is no UTF-8 as text of ISO 8859-1, for which the CLI takes a console.
func latin1(plain []byte) string {
	if utf8.Valid(plain) {
		return string(plain)
	}
	text := make([]rune, len(plain))
	for i, c := range plain {
		text[i] = rune(c)
	}
	return string(text)
}

func quote(b *bytes.Buffer, text string) {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	// A text can always be written.
	_ = e.Encode(text)
	b.Truncate(b.Len() - 1) // the encoder's line end
}

// services are those whose answers are kept, by their names in calls, with the names that
// the AWS CLI has for them.
func services() map[string]string {
	return map[string]string{"ec2": "ec2", "autoscaling": "autoscaling", "eks": "eks", "iam": "iam", "cloudwatchlogs": "logs", "route53resolver": "route53resolver", "route53profiles": "route53profiles", "route53": "route53", "arczonalshift": "arc-zonal-shift"}
}

// keysOf are the parameters that stand in the name of a call's file, in their order.
func keysOf(call string) []string {
	switch call {
	case "eks:DescribeCluster":
		return []string{"Name"}
	case "eks:ListNodegroups", "eks:ListAddons", "eks:ListAccessEntries", "eks:ListPodIdentityAssociations":
		return []string{"ClusterName"}
	case "eks:DescribeNodegroup":
		return []string{"ClusterName", "NodegroupName"}
	case "eks:DescribeAddon":
		return []string{"ClusterName", "AddonName"}
	case "eks:DescribeAccessEntry", "eks:ListAssociatedAccessPolicies":
		return []string{"ClusterName", "PrincipalArn"}
	case "eks:DescribePodIdentityAssociation":
		return []string{"ClusterName", "AssociationId"}
	case "eks:ListUpdates":
		return []string{"Name", "NodegroupName", "AddonName"}
	case "eks:DescribeUpdate":
		return []string{"Name", "NodegroupName", "AddonName", "UpdateId"}
	case "ec2:DescribeVpcAttribute":
		return []string{"VpcId", "Attribute"}
	case "ec2:GetManagedPrefixListEntries":
		return []string{"PrefixListId"}
	case "ec2:GetSubnetCidrReservations":
		return []string{"SubnetId"}
	case "ec2:SearchTransitGatewayRoutes":
		return []string{"TransitGatewayRouteTableId"}
	case "ec2:GetConsoleOutput":
		return []string{"InstanceId"}
	case "ec2:DescribeInstanceAttribute":
		return []string{"InstanceId", "Attribute"}
	case "iam:GetInstanceProfile":
		return []string{"InstanceProfileName"}
	case "iam:GetRole", "iam:ListAttachedRolePolicies", "iam:ListRolePolicies":
		return []string{"RoleName"}
	case "iam:GetRolePolicy":
		return []string{"RoleName", "PolicyName"}
	case "iam:GetPolicyVersion":
		return []string{"PolicyArn"}
	case "cloudwatchlogs:FilterLogEvents", "route53resolver:ListFirewallRules":
		return []string{"Group"}
	case "route53profiles:ListProfileResourceAssociations":
		return []string{"Profile"}
	case "route53:ListHostedZonesByVPC":
		return []string{"VPC"}
	case "route53:ListResourceRecordSets":
		return []string{"Zone"}
	case "route53resolver:ListFirewallDomains":
		return []string{"List"}
	}
	return nil
}

// fileless tells reads that a capture has no file of: clusters that were only listed were
// not looked at, and a policy is made of its version.
func fileless(call string) bool {
	switch call {
	case "eks:ListClusters", "iam:GetPolicy",
		"ec2:DescribeVolumeStatus", "ec2:DescribeVolumesModifications", "ec2:DescribeLaunchTemplates":
		return true
	}
	return false
}

// File is the name of the file, without .json, that a capture has of a call
// ("ec2:DescribeSubnets"), and what the call asks for of it; "" where it has none.
func File(call string, params any) (name string, q Question) {
	service, operation, _ := strings.Cut(call, ":")
	prefix, ours := services()[service]
	reads := slices.ContainsFunc([]string{"Describe", "Get", "List", "Search", "Filter"}, func(verb string) bool { return strings.HasPrefix(operation, verb) })
	if !ours || !reads || fileless(call) {
		return "", nil
	}
	keys := keysOf(call)
	v := reflect.Indirect(reflect.ValueOf(params))
	if len(keys) > 0 && v.Kind() != reflect.Struct {
		return "", nil
	}
	var values []string
	for _, key := range keys {
		value := texts(v.FieldByName(key))
		if len(value) == 0 {
			continue // an update is of a cluster, a nodegroup or an add-on
		}
		if strings.HasSuffix(key, "Arn") {
			value[0] = value[0][strings.LastIndex(value[0], "/")+1:]
		}
		values = append(values, value[0])
	}
	return capture.FileName(prefix+"-"+kebab(operation), values...), questionOf(params, keys)
}

// kebab is an operation as the AWS CLI has it: DescribeVpcs is describe-vpcs.
func kebab(operation string) string {
	var b strings.Builder
	for i, r := range strings.ReplaceAll(operation, "VPC", "Vpc") {
		if r >= 'A' && r <= 'Z' && i > 0 {
			b.WriteByte('-')
		}
		b.WriteRune(r)
	}
	return strings.ToLower(b.String())
}

// KubernetesFile is the same for a request to a cluster's Kubernetes API.
func KubernetesFile(cluster, path string, query url.Values) (name string, q Question) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case len(parts) > 2 && parts[0] == "api":
		parts = parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		parts = parts[3:]
	default:
		return "", nil
	}
	q = Question{}
	object := ""
	if len(parts) > 2 && parts[0] == "namespaces" {
		q["namespace"], parts = []string{parts[1]}, parts[2:]
	}
	if len(parts) > 1 {
		object = parts[1]
	}
	kind, single := kubectl(parts[0])
	if kind == "" || single != object {
		return "", nil
	}
	if single != "" {
		return capture.FileName("kubectl-get-"+kind, cluster), nil
	}
	for _, name := range []string{"labelSelector", "fieldSelector"} {
		if value := query.Get(name); value != "" {
			q[name] = []string{value}
		}
	}
	if len(q) == 0 {
		q = nil
	}
	return capture.FileName("kubectl-get-"+kind, cluster), q
}

// kubectl is what kubectl's file of a kind is called, and the one object of which it is.
func kubectl(plural string) (file, object string) {
	switch plural {
	case "nodes", "pods", "events", "eniconfigs", "nodepools", "nodeclaims", "ec2nodeclasses", "nodeclasses":
		return plural, ""
	case "persistentvolumes":
		return "pv", ""
	case "persistentvolumeclaims":
		return "pvc", ""
	case "certificatesigningrequests":
		return "csr", ""
	case "daemonsets":
		return "daemonset-aws-node", "aws-node"
	case "serviceaccounts":
		return "serviceaccount-aws-node", "aws-node"
	case "configmaps":
		return "configmap-aws-auth", "aws-auth"
	}
	return "", ""
}

// Grants are the permission to keep evidence, as the settings have it. It is to make
// objects, and to replace none: a request without If-None-Match is not allowed (S3 user
// guide, "Enforce conditional writes on Amazon S3 buckets"), and nothing is read.
func Grants(getenv func(string) string) ([]spec.Grant, error) {
	c, err := config.Load(getenv, []spec.Variable{config.Evidence, config.KMSKey})
	if err != nil || c.EvidenceDays == 0 {
		return nil, err
	}
	conditions := map[string]map[string][]string{
		"Null":         {"s3:if-none-match": {"false"}},
		"StringEquals": {"s3:x-amz-server-side-encryption": {"AES256"}},
	}
	if c.KMSKey != "" {
		conditions["StringEquals"] = map[string][]string{"s3:x-amz-server-side-encryption": {"aws:kms"}}
		conditions["ArnEquals"] = map[string][]string{"s3:x-amz-server-side-encryption-aws-kms-key-id": {c.KMSKey}}
	}
	return []spec.Grant{{
		Sid:        "KeepEvidence",
		Why:        "The data read for a finding is kept, so that it can be diagnosed again when the instance is gone.",
		Actions:    []string{"s3:PutObject"},
		Resources:  []spec.Resource{spec.EvidenceObjects},
		Conditions: conditions,
	}}, nil
}
