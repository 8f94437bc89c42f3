package capture

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"rollcall/shared/lazyregexp"
)

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
