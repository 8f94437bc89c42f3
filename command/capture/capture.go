// Package capture reads a folder of what the AWS CLI and kubectl printed, and answers the SDK's
// clients and the Kubernetes client from it: the functions cannot tell it from the account.
//
// A folder is read strictly by name and tolerantly by content. What a file
// does not hold was not looked at, and that is an answer of its own: see
// NotCaptured.
package capture

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	shared "rollcall/shared/capture"
	"rollcall/shared/evidence"
	"rollcall/shared/lazyregexp"
)

// Capture is a folder that was read.
type Capture struct {
	// Dir is its path.
	Dir string
	// Time is when it was taken.
	Time time.Time
	// Account and Region are whose and where, as far as the files tell.
	Account, Region string
	// Clusters are the names of the clusters in it, sorted.
	Clusters []string
	// Event is the EventBridge event to play, nil if there is none.
	Event json.RawMessage
	// Scope is what was asked for, where that is not all that there is: a function kept
	// what it read. Nil: all was asked for.
	Scope evidence.Scope
	// Kept tells of what it is evidence that a function kept; nil for another capture.
	Kept *evidence.About
	// Warnings say what was not understood and left out.
	Warnings []string

	files   map[string]any // by name: a pointer to an SDK output, or a tree
	refused map[string]refusal
	partial map[string]bool
	leftOut map[string]string // why a file is not there, by its name
}

// maxFile bounds one file: the largest real ones are lists of pods.
const maxFile = 64 << 20

// Open reads a folder. now bounds what may be the time of a capture that does
// not tell it. The error is an *Error that names the file if the folder is no
// capture or a file in it cannot be read.
func Open(dir string, now time.Time) (*Capture, error) {
	root, err := os.OpenRoot(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &Error{dir, "no such folder"}
	case err != nil:
		return nil, &Error{dir, fmt.Sprintf("it cannot be read as a folder: %v", err)}
	}
	defer root.Close()
	return OpenIn(root, dir, now)
}

// OpenIn is Open of a folder that is open; dir is what messages call it. Nothing outside of
// the folder is read: a capture is of another person, and its files may be links.
func OpenIn(root *os.Root, dir string, now time.Time) (*Capture, error) {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, &Error{dir, fmt.Sprintf("it cannot be read as a folder: %v", err)}
	}
	c := &Capture{Dir: dir, files: map[string]any{}, refused: map[string]refusal{}, partial: map[string]bool{}, leftOut: map[string]string{}}
	var times moments
	known := 0
	for _, e := range entries {
		ok, err := c.load(root, e, &times)
		if err != nil {
			return nil, err
		}
		if ok {
			known++
		}
	}
	if known == 0 {
		return nil, &Error{dir, "it is not a capture: it holds none of the files that a capture has, such as ec2-describe-instances.json"}
	}
	for name := range c.refused {
		if _, both := c.files[name]; both {
			c.warn("%s.json: errors.json says that this call was refused: what the file holds is left out", name)
			delete(c.files, name)
		}
	}
	if c.Time.IsZero() {
		if c.Time = times.newest(now); c.Time.IsZero() {
			c.warn("no file has a time, and there is no time.txt: assuming now")
			c.Time = now
		}
	}
	c.identify()
	return c, nil
}

// load reads one file, and tells if it is one that a capture has.
func (c *Capture) load(root *os.Root, e fs.DirEntry, times *moments) (bool, error) {
	path := filepath.Join(c.Dir, e.Name())
	name := tidyName(e.Name())
	operation, _ := splitName(name)
	typ, isCall := operations()[operation]
	isJSON := strings.HasSuffix(e.Name(), ".json")
	special := e.Name() == evidence.AboutFile || e.Name() == "event.json" || e.Name() == "errors.json" || e.Name() == leftOutFile || e.Name() == evidence.AskedFile || e.Name() == "time.txt"
	if !special && !(isJSON && isCall) {
		if !strings.HasPrefix(e.Name(), ".") {
			c.warn("%s: not a file that a capture has; it is left out", e.Name())
		}
		return false, nil
	}
	data, err := shared.ReadRegular(root, e.Name(), maxFile)
	if err != nil {
		return false, &Error{path, err.Error()}
	}
	if e.Name() == "time.txt" {
		return false, c.takeTime(path, data)
	}
	switch e.Name() {
	case evidence.AskedFile:
		return false, about(path, data, &c.Scope)
	case evidence.AboutFile:
		return false, about(path, data, &c.Kept)
	}
	tree, err := treeOf(data)
	if err != nil {
		return false, &Error{path, err.Error()}
	}
	if tree == nil {
		c.warn("%s: the file is empty: the call that should have filled it is taken as not made", e.Name())
		return true, nil
	}
	if e.Name() == leftOutFile {
		return false, c.takeLeftOut(path, tree)
	}
	if _, ok := tree.(map[string]any); !ok {
		return false, &Error{path, "want a JSON object, got " + kindOf(tree)}
	}
	switch e.Name() {
	case "errors.json":
		return true, c.takeRefusals(path, tree)
	case "event.json":
		times.add(tree)
		return true, c.takeEvent(path, plainText(data), tree)
	}
	times.add(tree)
	return true, c.take(path, name, typ, tree)
}

// about reads a file that tells what the others are of.
func about(path string, data []byte, to any) error {
	if err := json.Unmarshal(plainText(data), to); err != nil {
		return &Error{path, err.Error()}
	}
	return nil
}

// take keeps what a call answered.
func (c *Capture) take(path, name string, typ reflect.Type, tree any) error {
	if typ == nil {
		c.files[name] = tree
		return nil
	}
	out := reflect.New(typ)
	if err := decode(out.Elem(), tree, ""); err != nil {
		return &Error{path, err.Error()}
	}
	if more(out.Elem()) {
		c.warn("%s.json: it holds only the first page of the answer (there is a token for the next): nothing is concluded from it", name)
		c.partial[name] = true
		return nil
	}
	asAPI(out.Interface())
	c.files[name] = out.Interface()
	return nil
}

// asAPI makes what the CLI prints what the API answers: the CLI decodes policies and
// consoles.
func asAPI(out any) {
	switch out := out.(type) {
	case *ec2.GetConsoleOutputOutput:
		out.Output = inBase64(out.Output)
	case *ec2.DescribeInstanceAttributeOutput:
		if out.UserData == nil {
			out.UserData = &ec2types.AttributeValue{}
		}
		out.UserData.Value = inBase64(out.UserData.Value)
	case *ec2.DescribeLaunchTemplateVersionsOutput:
		for _, v := range out.LaunchTemplateVersions {
			if d := v.LaunchTemplateData; d != nil {
				d.UserData = inBase64(d.UserData)
			}
		}
	case *iam.GetInstanceProfileOutput:
		if out.InstanceProfile != nil {
			for i := range out.InstanceProfile.Roles {
				r := &out.InstanceProfile.Roles[i]
				r.AssumeRolePolicyDocument = urlEncoded(r.AssumeRolePolicyDocument)
			}
		}
	case *iam.GetRoleOutput:
		if out.Role != nil {
			out.Role.AssumeRolePolicyDocument = urlEncoded(out.Role.AssumeRolePolicyDocument)
		}
	case *iam.GetRolePolicyOutput:
		out.PolicyDocument = urlEncoded(out.PolicyDocument)
	case *iam.GetPolicyVersionOutput:
		if out.PolicyVersion != nil {
			out.PolicyVersion.Document = urlEncoded(out.PolicyVersion.Document)
		}
	case *autoscaling.DescribeScalingActivitiesOutput: // newest first
		slices.SortStableFunc(out.Activities, func(x, y astypes.Activity) int { return aws.ToTime(y.StartTime).Compare(aws.ToTime(x.StartTime)) })
	}
}

// more reports whether an answer goes on: half a list must not pass as the list.
func more(out reflect.Value) bool {
	for _, field := range []string{"NextToken", "Marker"} {
		f := out.FieldByName(field)
		if f.IsValid() && f.Kind() == reflect.Pointer && !f.IsNil() && f.Elem().String() != "" {
			return true
		}
	}
	return false
}

func (c *Capture) takeTime(path string, data []byte) error {
	text := strings.TrimSpace(string(plainText(data)))
	if line, _, ok := strings.Cut(text, "\n"); ok {
		text = strings.TrimSpace(line)
	}
	t, err := timeOf(text)
	if err != nil {
		return &Error{path, err.Error() + ", such as 2026-11-20T15:10:00Z"}
	}
	c.Time = t
	return nil
}

func (c *Capture) takeEvent(path string, data []byte, tree any) error {
	for _, key := range []string{"source", "detail-type"} {
		if text, _ := tree.(map[string]any)[key].(string); text == "" {
			return &Error{path, fmt.Sprintf("it is not an EventBridge event: it has no %q", key)}
		}
	}
	c.Event = data
	return nil
}

func (c *Capture) warn(format string, args ...any) {
	c.Warnings = append(c.Warnings, fmt.Sprintf(format, args...))
}

// names are the files of an operation.
func (c *Capture) names(operation string) []string {
	var list []string
	for name := range c.files {
		if name == operation || strings.HasPrefix(name, operation+".") {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// decode fills an SDK struct from the tree of what the CLI printed. Field
// names are compared without case: the CLI prints the API's names, and Go's
// differ from them in case only. A field that this SDK does not know is left
// out, as an SDK leaves out what a newer service sends. A value of another kind
// than the field's is an error: the file is not what its name says.
func decode(dst reflect.Value, src any, path string) error {
	if src == nil {
		return nil
	}
	if dst.Type() == reflect.TypeFor[time.Time]() {
		t, err := timeOf(src)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		dst.Set(reflect.ValueOf(t))
		return nil
	}
	switch dst.Kind() {
	case reflect.Pointer:
		if src == "" && dst.Type().Elem() == reflect.TypeFor[time.Time]() {
			return nil // tools that rewrite JSON leave an empty time where there is none
		}
		v := reflect.New(dst.Type().Elem())
		if err := decode(v.Elem(), src, path); err != nil {
			return err
		}
		dst.Set(v)
		return nil
	case reflect.Interface:
		return nil // a union: none of them is read
	case reflect.Struct:
		return decodeStruct(dst, src, path)
	case reflect.Slice:
		return decodeSlice(dst, src, path)
	case reflect.Map:
		return decodeMap(dst, src, path)
	}
	return decodeScalar(dst, src, path)
}

func decodeStruct(dst reflect.Value, src any, path string) error {
	m, ok := src.(map[string]any)
	if !ok {
		return wrong(path, "an object", src)
	}
	t := dst.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() || f.Name == "ResultMetadata" {
			continue
		}
		value, ok := member(m, f.Name)
		if !ok {
			continue
		}
		if err := decode(dst.Field(i), value, join(path, f.Name)); err != nil {
			return err
		}
	}
	return nil
}

// member finds a key without case; the exact one wins.
func member(m map[string]any, name string) (any, bool) {
	if v, ok := m[name]; ok {
		return v, true
	}
	for key, v := range m {
		if strings.EqualFold(key, name) {
			return v, true
		}
	}
	return nil, false
}

func decodeSlice(dst reflect.Value, src any, path string) error {
	if dst.Type().Elem().Kind() == reflect.Uint8 {
		s, ok := src.(string)
		if !ok {
			return wrong(path, "text", src)
		}
		b, err := base64.StdEncoding.DecodeString(s)
		if err != nil {
			b = []byte(s)
		}
		dst.SetBytes(b)
		return nil
	}
	list, ok := src.([]any)
	if !ok {
		return wrong(path, "a list", src)
	}
	out := reflect.MakeSlice(dst.Type(), len(list), len(list))
	for i, item := range list {
		if err := decode(out.Index(i), item, fmt.Sprintf("%s[%d]", path, i)); err != nil {
			return err
		}
	}
	dst.Set(out)
	return nil
}

func decodeMap(dst reflect.Value, src any, path string) error {
	m, ok := src.(map[string]any)
	if !ok {
		return wrong(path, "an object", src)
	}
	out := reflect.MakeMapWithSize(dst.Type(), len(m))
	for key, item := range m {
		v := reflect.New(dst.Type().Elem()).Elem()
		if err := decode(v, item, join(path, key)); err != nil {
			return err
		}
		out.SetMapIndex(reflect.ValueOf(key).Convert(dst.Type().Key()), v)
	}
	dst.Set(out)
	return nil
}

// decodeScalar takes numbers and switches written as text too, as tools that
// rewrite JSON leave them.
func decodeScalar(dst reflect.Value, src any, path string) error {
	text := ""
	switch v := src.(type) {
	case string:
		text = v
	case json.Number:
		text = v.String()
	case bool:
		text = strconv.FormatBool(v)
	case map[string]any:
		if dst.Kind() != reflect.String || !isDocument(path) {
			return wrong(path, "a "+dst.Kind().String(), src)
		}
		b, err := json.Marshal(v)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		text = string(b)
	default:
		return wrong(path, "a "+dst.Kind().String(), src)
	}
	switch dst.Kind() {
	case reflect.String:
		dst.SetString(text)
		return nil
	case reflect.Bool:
		if b, err := strconv.ParseBool(text); err == nil {
			dst.SetBool(b)
			return nil
		}
	case reflect.Int, reflect.Int32, reflect.Int64:
		if n, err := strconv.ParseInt(text, 10, dst.Type().Bits()); err == nil {
			dst.SetInt(n)
			return nil
		}
	case reflect.Float32, reflect.Float64:
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			dst.SetFloat(n)
			return nil
		}
	}
	return wrong(path, "a "+dst.Kind().String(), src)
}

// isDocument tells a policy's document, which the CLI prints as an object
// where the API has text.
func isDocument(path string) bool {
	return strings.HasSuffix(path, "Document") || strings.HasSuffix(path, "Policy")
}

// urlEncoded is an IAM policy document as the API gives it. The CLI has
// decoded it.
func urlEncoded(document *string) *string {
	if document == nil || !strings.HasPrefix(strings.TrimSpace(*document), "{") {
		return document
	}
	encoded := url.PathEscape(*document)
	return &encoded
}

func wrong(path, want string, got any) error {
	if path == "" {
		return fmt.Errorf("want %s, got %s", want, kindOf(got))
	}
	return fmt.Errorf("%s: want %s, got %s", path, want, kindOf(got))
}

// kindOf is the kind of a value, and never the value: the file may be any, and a message
// may go to anybody.
func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "nothing"
	case string:
		return "text"
	case json.Number:
		return "a number"
	case bool:
		return "true or false"
	case []any:
		return "a list"
	}
	return "an object"
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// lastPart is the name at the end of an ARN or a path.
func lastPart(arn string) string { return arn[strings.LastIndex(arn, "/")+1:] }

// layouts are the forms in which the CLI's versions, kubectl and people write
// a time. One without an offset is UTC.
func layouts() []string {
	return []string{
		time.RFC3339Nano, "2006-01-02T15:04:05.999999999-0700", "2006-01-02T15:04:05.999999999-07",
		"2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999 -0700", "2006-01-02 15:04:05.999999999 MST",
		"2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999",
		"2006-01-02T15:04Z07:00", time.RFC1123, time.RFC1123Z, time.DateOnly,
	}
}

// epochs bound what is taken for a time in seconds: 2001 to 2100. Larger
// numbers up to a thousand times that are milliseconds.
const (
	minEpoch = 1e9
	maxEpoch = 4.2e9
)

// timeOf reads a time: text of AWS CLI v2 and kubectl, a number of v1.
func timeOf(src any) (time.Time, error) {
	switch v := src.(type) {
	case string:
		text := strings.TrimSpace(v)
		for _, layout := range layouts() {
			if t, err := time.Parse(layout, text); err == nil {
				return t.UTC(), nil
			}
		}
		if t, ok := epoch(text); ok {
			return t, nil
		}
		return time.Time{}, errors.New("the text is not a time")
	case json.Number:
		if t, ok := epoch(v.String()); ok {
			return t, nil
		}
		f, err := v.Float64()
		if err == nil && math.Abs(f) < minEpoch {
			return time.Unix(int64(f), 0).UTC(), nil
		}
		return time.Time{}, errors.New("the number is not a time in seconds")
	}
	return time.Time{}, fmt.Errorf("want a time, got %s", kindOf(src))
}

func epoch(text string) (time.Time, bool) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return time.Time{}, false
	}
	if f >= minEpoch*1000 && f <= maxEpoch*1000 {
		f /= 1000
	}
	if !(f >= minEpoch && f <= maxEpoch) {
		return time.Time{}, false
	}
	sec, frac := math.Modf(f)
	return time.Unix(int64(sec), int64(math.Round(frac*1e6))*1000).UTC(), true
}

// moments collects the times that a tree holds, so that a capture without
// time.txt has one.
type moments struct {
	// happened is the newest time under a name that only the past has;
	// others are the rest, of which some may be planned.
	happened time.Time
	others   []time.Time
	// kinds are the names that were met: a capture has few of them, thousands of times.
	kinds map[string]fieldKind
}

// fieldKind is what a field's name tells of the time in it.
type fieldKind struct{ time, planned, happened bool }

func (m *moments) kind(name string) fieldKind {
	k, known := m.kinds[name]
	if !known {
		if m.kinds == nil {
			m.kinds = map[string]fieldKind{}
		}
		k = fieldKind{time: timeName.MatchString(name), planned: plannedName.MatchString(name), happened: happenedName.MatchString(name)}
		m.kinds[name] = k
	}
	return k
}

var (
	// timeName is a field that holds a time, in AWS's and Kubernetes' names.
	timeName = lazyregexp.New(`(?i)(time|timestamp|date|since)$|At$|^at$|^NotBefore|^NotAfter`)
	// plannedName is a field whose time is to come: scheduled events of an
	// instance, an image's deprecation, the end of support, expiries, leases.
	plannedName = lazyregexp.New(`(?i)notbefore|notafter|deadline|deprecat|support|retire|expir|until|schedul|planned|next|maintenance|validto|endofl|deletion`)
	// happenedName is a field whose time is never to come.
	happenedName = lazyregexp.New(`(?i)^(launchtime|lastheartbeattime|lasttransitiontime|creationtimestamp|createdat|createtime|created[a-z]*time|modifiedat|attachtime|attachedtime|firsttimestamp|lasttimestamp|starttime|timestamp|startedat|finishedat|time|eventtime)$`)
)

// add walks a tree.
func (m *moments) add(v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			m.add(item)
		}
	case map[string]any:
		for key, item := range v {
			switch item.(type) {
			case string, json.Number:
				m.take(key, item)
			default:
				// What is planned is planned as a whole.
				if !m.kind(key).planned {
					m.add(item)
				}
			}
		}
	}
}

func (m *moments) take(key string, item any) {
	k := m.kind(key)
	if !k.time || k.planned {
		return
	}
	t, err := timeOf(item)
	if err != nil || t.Unix() < minEpoch {
		return
	}
	if !k.happened {
		m.others = append(m.others, t)
		return
	}
	if t.After(m.happened) {
		m.happened = t
	}
}

// newest is the newest time that is past: a time that may be planned counts
// only if it is not later than now.
func (m *moments) newest(now time.Time) time.Time {
	newest := m.happened
	for _, t := range m.others {
		if t.After(newest) && !t.After(now) {
			newest = t
		}
	}
	if !newest.IsZero() {
		return newest
	}
	for _, t := range m.others {
		if newest.IsZero() || t.After(newest) {
			newest = t
		}
	}
	return newest
}

// Error is a capture that cannot be read: which file, and what is wrong.
type Error struct {
	// File is the file's path, or the folder's.
	File    string
	Problem string
}

// Error names the file and the problem.
func (e *Error) Error() string { return e.File + ": " + e.Problem }

// treeOf reads a file's JSON as a generic tree whose numbers keep their text.
// An empty file gives nil: a command that failed leaves one behind a
// redirection.
func treeOf(data []byte) (any, error) {
	data = plainText(data)
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, nil
	}
	if nodes := nodesIn(data); nodes > maxNodes {
		return nil, fmt.Errorf("it has more than %d values", maxNodes)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, whereIn(data, d, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("%s: more than one JSON value", place(data, d.InputOffset()))
	}
	return v, nil
}

// maxNodes bounds the values of a file: each takes some hundred bytes of memory, however few
// it takes in the file. Pods of 5,000 nodes have about two million.
const maxNodes = 4 << 20

// nodesIn is how many values a JSON text has at most.
func nodesIn(data []byte) int {
	nodes, text := 1, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case text && c == '\\':
			i++
		case c == '"':
			text = !text
		case !text && (c == ',' || c == '[' || c == '{'):
			nodes++
		}
	}
	return nodes
}

func whereIn(data []byte, d *json.Decoder, err error) error {
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("%s: %w", place(data, syntax.Offset), err)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s: the JSON ends before it is complete", place(data, int64(len(data))))
	}
	return fmt.Errorf("%s: %w", place(data, d.InputOffset()), err)
}

// place is an offset as an editor shows it.
func place(data []byte, offset int64) string {
	before := data[:min(max(offset, 0), int64(len(data)))]
	line := 1 + bytes.Count(before, []byte("\n"))
	column := len(before) - bytes.LastIndexByte(before, '\n') - 1
	return fmt.Sprintf("line %d, column %d", line, max(column, 1))
}

// plainText is the file as UTF-8: PowerShell's redirection writes UTF-16, and
// some editors put a byte order mark first.
func plainText(data []byte) []byte {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(data, []byte{0xEF, 0xBB, 0xBF}):
		return data[3:]
	case bytes.HasPrefix(data, []byte{0xFF, 0xFE}):
		order = binary.LittleEndian
	case bytes.HasPrefix(data, []byte{0xFE, 0xFF}):
		order = binary.BigEndian
	default:
		return data
	}
	data = data[2:]
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = order.Uint16(data[2*i:])
	}
	return []byte(string(utf16.Decode(units)))
}

// Without returns the capture as it is without some files, by their names without .json, or
// with their calls refused: what Open reads of a folder that lacks them, without reading the
// others again. The time stays: only a folder without time.txt takes it from its files.
func (c *Capture) Without(files []string, refused bool) *Capture {
	less := *c
	less.files, less.refused, less.partial = maps.Clone(c.files), maps.Clone(c.refused), maps.Clone(c.partial)
	less.Account, less.Region, less.Clusters = "", "", nil
	for _, name := range files {
		name = tidyName(name)
		delete(less.files, name)
		delete(less.refused, name)
		delete(less.partial, name)
		if refused {
			less.refused[name] = refusal{code: "AccessDenied", message: "not authorized"}
		}
	}
	less.identify()
	return &less
}
