// Package release keeps what a release of Rollcall writes, so that every later
// one is tried with it: the records of its table and the messages of its
// queues, as its own programs wrote them while they played the stories.
// An upgrade finds these records in the table, and these messages in the
// queues; a rollback finds those of the newer release.
//
// The samples of a release are made by `make release-samples RELEASE=N`, anew until it
// has a tag, and never after that.
package release

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Lost lists what one JSON document says and another does not: paths, with what
// is there instead. What the other says beside that is no loss. Times are equal
// if they are the same moment.
func Lost(written, read json.RawMessage) []string {
	var a, b any
	if err := json.Unmarshal(written, &a); err != nil {
		return []string{fmt.Sprintf("$: not JSON: %v", err)}
	}
	if err := json.Unmarshal(read, &b); err != nil {
		return []string{fmt.Sprintf("$: read as no JSON: %v", err)}
	}
	out := lostAt("$", a, b)
	slices.Sort(out)
	return out
}

func lostAt(path string, a, b any) (out []string) {
	switch a := a.(type) {
	case map[string]any:
		other, _ := b.(map[string]any)
		for key, value := range a {
			there, ok := other[key]
			if !ok && empty(value) {
				continue // left out, as "omitempty" does
			}
			out = append(out, lostAt(path+"."+key, value, there)...)
		}
		return out
	case []any:
		other, _ := b.([]any)
		if len(a) != len(other) {
			return []string{fmt.Sprintf("%s: %d elements, read %d", path, len(a), len(other))}
		}
		for i := range a {
			out = append(out, lostAt(fmt.Sprintf("%s[%d]", path, i), a[i], other[i])...)
		}
		return out
	}
	if reflect.DeepEqual(a, b) || sameMoment(a, b) {
		return nil
	}
	return []string{fmt.Sprintf("%s: %v, read %v", path, a, b)}
}

// zeroTime is a time that was never set, as encoding/json writes it.
const zeroTime = "0001-01-01T00:00:00Z"

func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case float64:
		return v == 0
	case string:
		return v == "" || v == zeroTime
	case []any:
		return len(v) == 0
	case map[string]any:
		for _, value := range v {
			if !empty(value) {
				return false
			}
		}
		return true
	}
	return false
}

func sameMoment(a, b any) bool {
	x, ok := a.(string)
	y, also := b.(string)
	if !ok || !also {
		return false
	}
	at, err := time.Parse(time.RFC3339Nano, x)
	other, otherErr := time.Parse(time.RFC3339Nano, y)
	return err == nil && otherErr == nil && at.Equal(other)
}

// Table is what is recorded of a stage.
type Table interface {
	Records(ctx context.Context) ([]map[string]types.AttributeValue, error)
}

// Recorder gathers what the programs on a stage write. It is safe for
// concurrent use.
type Recorder struct {
	mu      sync.Mutex
	samples Samples
	seen    map[string]bool // by key and version
}

// Sent takes a message that a queue took in.
func (r *Recorder) Sent(queue, body string) {
	if !json.Valid([]byte(body)) {
		quoted, _ := json.Marshal(body) // text always is
		body = string(quoted)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.samples.Messages = append(r.samples.Messages, Message{Queue: queue, Body: json.RawMessage(body)})
}

// Look takes the records that there are now.
func (r *Recorder) Look(ctx context.Context, t Table) error {
	items, err := t.Records(ctx)
	if err != nil {
		return fmt.Errorf("keep samples: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, item := range items {
		record, err := NewRecord(item)
		if err != nil {
			return fmt.Errorf("keep samples: %w", err)
		}
		if r.seen == nil {
			r.seen = map[string]bool{}
		}
		version := record.Texts["pk"] + " " + record.Texts["sk"] + " " + record.Numbers["version"].String()
		if !r.seen[version] {
			r.seen[version] = true
			r.samples.Records = append(r.samples.Records, record)
		}
	}
	return nil
}

// Watch looks each interval, until the context ends: what a record was on its way
// is of interest too.
func (r *Recorder) Watch(ctx context.Context, t Table, every time.Duration) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			if err := r.Look(ctx, t); err != nil && ctx.Err() == nil {
				return err
			}
		}
	}
}

// Write adds what was gathered to a folder's samples.
func (r *Recorder) Write(dir string) error {
	kept, err := Read(dir)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	kept.Records = append(kept.Records, r.samples.Records...)
	kept.Messages = append(kept.Messages, r.samples.Messages...)
	return kept.Few().Write(dir)
}

// Record is an item of the table. Attributes are text or numbers; the record
// itself is Body, JSON as it was written.
type Record struct {
	Texts   map[string]string      `json:"texts"`
	Numbers map[string]json.Number `json:"numbers"`
	Body    json.RawMessage        `json:"body"`
}

// Kind is the beginning of the record's partition key, up to its first "#".
func (r Record) Kind() string {
	kind, _, _ := strings.Cut(r.Texts["pk"], "#")
	if strings.HasSuffix(r.Texts["pk"], "#hours") {
		kind += "#hours"
	}
	return kind
}

// Message is what was sent to a queue.
type Message struct {
	Queue string          `json:"queue"`
	Body  json.RawMessage `json:"body"`
}

// Kind is the message's queue, and what it says it is.
func (m Message) Kind() string {
	var head struct {
		Kind   string `json:"kind"`
		Source string `json:"source"`
		Type   string `json:"detail-type"`
	}
	_ = json.Unmarshal(m.Body, &head) // what is no object has neither
	return strings.Join([]string{m.Queue, head.Kind, head.Source, head.Type}, " ")
}

// Samples are what a release wrote.
type Samples struct {
	Records  []Record
	Messages []Message
}

// bodyAttribute holds the record itself (package state).
const bodyAttribute = "body"

// NewRecord is an item as DynamoDB gives it.
func NewRecord(item map[string]types.AttributeValue) (Record, error) {
	r := Record{Texts: map[string]string{}, Numbers: map[string]json.Number{}}
	for name, value := range item {
		switch v := value.(type) {
		case *types.AttributeValueMemberS:
			if name == bodyAttribute {
				r.Body = json.RawMessage(v.Value)
				continue
			}
			r.Texts[name] = v.Value
		case *types.AttributeValueMemberN:
			r.Numbers[name] = json.Number(v.Value)
		default:
			return Record{}, fmt.Errorf("attribute %s of %s is neither text nor number", name, r.Texts["pk"])
		}
	}
	return r, nil
}

// Item is the record as DynamoDB takes it.
func (r Record) Item() map[string]types.AttributeValue {
	item := map[string]types.AttributeValue{}
	for name, value := range r.Texts {
		item[name] = &types.AttributeValueMemberS{Value: value}
	}
	for name, value := range r.Numbers {
		item[name] = &types.AttributeValueMemberN{Value: value.String()}
	}
	var body bytes.Buffer
	if err := json.Compact(&body, r.Body); err != nil {
		body.Reset()
		body.Write(r.Body)
	}
	item[bodyAttribute] = &types.AttributeValueMemberS{Value: body.String()}
	return item
}

const (
	recordsFile  = "records.json"
	messagesFile = "messages.json"
)

// Write keeps samples in a folder.
func (s Samples) Write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("keep samples: %w", err)
	}
	return errors.Join(write(filepath.Join(dir, recordsFile), s.Records), write(filepath.Join(dir, messagesFile), s.Messages))
}

// write writes a list as JSON, an element on a line.
func write[T any](file string, list []T) error {
	var out bytes.Buffer
	for i, x := range list {
		data, err := json.Marshal(x)
		if err != nil {
			return fmt.Errorf("keep samples: %w", err)
		}
		before := ",\n"
		if i == 0 {
			before = "[\n"
		}
		out.WriteString(before)
		out.Write(data)
	}
	out.WriteString("\n]\n")
	if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
		return fmt.Errorf("keep samples: %w", err)
	}
	return nil
}

// Read gives the samples of a folder; those of a folder without any are empty.
func Read(dir string) (s Samples, err error) {
	for name, list := range map[string]any{recordsFile: &s.Records, messagesFile: &s.Messages} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return Samples{}, fmt.Errorf("read samples: %w", err)
		}
		if err := json.Unmarshal(data, list); err != nil {
			return Samples{}, fmt.Errorf("read samples: %s: %w", name, err)
		}
	}
	return s, nil
}

// Few are the samples that show everything that s shows: each field of each
// kind, and each word that a field near the top takes. The stories write thousands of
// records; a dozen of a kind say as much.
func (s Samples) Few() Samples {
	for i := range s.Messages {
		s.Messages[i].Body = shortened(s.Messages[i].Body)
	}
	for i := range s.Records {
		s.Records[i].Body = shortened(s.Records[i].Body)
	}
	return Samples{
		Records:  few(s.Records, Record.Kind, func(r Record) json.RawMessage { return r.Body }),
		Messages: few(s.Messages, Message.Kind, func(m Message) json.RawMessage { return m.Body }),
	}
}

// cut shortens what is long and no text, such as a picture: nothing of a release
// rests on the rest of it.
func cut(v any) any {
	const long, kept = 2000, 64 // whole groups of base64
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			v[key] = cut(value)
		}
	case []any:
		for i, value := range v {
			v[i] = cut(value)
		}
	case string:
		if len(v) > long && !strings.ContainsAny(v, " \n") {
			return v[:kept]
		}
	}
	return v
}

// shortened is a body without what cut takes away; the same body where that is
// nothing.
func shortened(body json.RawMessage) json.RawMessage {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var v any
	if decoder.Decode(&v) != nil {
		return body
	}
	short, err := json.Marshal(cut(v))
	if err != nil || len(short) > len(body)/2 {
		return body
	}
	return short
}

// few takes the sample that shows most of what no other has shown, until none
// shows anything new.
func few[T any](list []T, kind func(T) string, body func(T) json.RawMessage) []T {
	byKind := map[string][]T{}
	for _, x := range list {
		byKind[kind(x)] = append(byKind[kind(x)], x)
	}
	var out []T
	for _, kind := range slices.Sorted(maps.Keys(byKind)) {
		candidates := byKind[kind]
		shows := make([]map[string]bool, len(candidates))
		for i, c := range candidates {
			shows[i] = features(body(c))
		}
		seen := map[string]bool{}
		for {
			best, news := -1, 0
			for i := range candidates {
				fresh := 0
				for f := range shows[i] {
					if !seen[f] {
						fresh++
					}
				}
				if fresh > news {
					best, news = i, fresh
				}
			}
			if best < 0 {
				break
			}
			for f := range shows[best] {
				seen[f] = true
			}
			out = append(out, candidates[best])
		}
	}
	return out
}

// features are the paths of a document, and what fields say that take one of a
// few words.
func features(body json.RawMessage) map[string]bool {
	var v any
	if json.Unmarshal(body, &v) != nil {
		return map[string]bool{"not JSON": true}
	}
	out := map[string]bool{"$": true}
	walk("$", v, func(path string, v any) {
		out[path] = true
		switch v := v.(type) {
		case bool:
			out[fmt.Sprint(path, "=", v)] = true
		case string:
			if word(v) && strings.Count(path, ".") <= wordDepth {
				out[path+"="+v] = true
			}
		}
	})
	return out
}

// wordDepth is how deep in a document words tell samples apart: what is deeper is of checks and
// findings, whose texts have goldens of their own.
const wordDepth = 2

// word tells what is one of a few words rather than a name: lower-case letters,
// hyphens and slashes alone.
func word(s string) bool {
	return s != "" && len(s) <= 24 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz-/") == ""
}

// walk calls see for each field below v. Elements of a list share one path, and
// so do keys that are data (they hold a character that no field name has).
func walk(path string, v any, see func(string, any)) {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			below := path + "." + key
			if strings.ContainsAny(key, "-/:.# ") {
				below = path + ".*"
			}
			see(below, value)
			walk(below, value, see)
		}
	case []any:
		for _, value := range v {
			see(path+"[]", value)
			walk(path+"[]", value, see)
		}
	}
}
