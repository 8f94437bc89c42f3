package lambdaruntime

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"time"
)

// Line is one line of a function's log.
type Line struct {
	Time      time.Time // on the wall
	Function  string
	RequestID string
	// Stream is "stdout", "stderr" or "platform".
	Stream string
	Text   string
}

// maxLine is where a line without an end is cut, as CloudWatch Logs would
// (256 KB an event).
const maxLine = 256 << 10

// lineLog cuts what a process writes into lines.
type lineLog struct {
	function string
	to       func(Line)

	mu      sync.Mutex
	id      string // of the invocation that runs, or ran last
	streams []*lineStream
}

type lineStream struct {
	log  *lineLog
	name string
	rest []byte
}

var _ io.Writer = (*lineStream)(nil)

func (l *lineLog) stream(name string) *lineStream {
	s := &lineStream{log: l, name: name}
	l.streams = append(l.streams, s)
	return s
}

// begin starts an invocation's part of the log.
func (l *lineLog) begin(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.id = id
	l.to(Line{Time: time.Now(), Function: l.function, RequestID: id, Stream: "platform", Text: "START RequestId: " + id + " Version: $LATEST"})
}

// Write takes output of the process.
func (s *lineStream) Write(b []byte) (int, error) {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	s.rest = append(s.rest, b...)
	for {
		i := bytes.IndexByte(s.rest, '\n')
		if i < 0 && len(s.rest) < maxLine {
			return len(b), nil
		}
		if i < 0 || i > maxLine {
			s.emit(s.rest[:maxLine])
			s.rest = s.rest[maxLine:]
			continue
		}
		s.emit(s.rest[:i])
		s.rest = s.rest[i+1:]
	}
}

func (s *lineStream) emit(text []byte) {
	s.log.to(Line{Time: time.Now(), Function: s.log.function, RequestID: s.log.id, Stream: s.name, Text: string(text)})
}

// flush emits what the process left without an end of line.
func (l *lineLog) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.streams {
		if len(s.rest) > 0 {
			s.emit(s.rest)
			s.rest = nil
		}
	}
}

// report writes the END and REPORT lines of the platform. Lines that the
// process wrote last may follow them: they come through a pipe, the answer
// over a socket.
func (r *Runtime) report(f *function, res Result) {
	line := func(text string) {
		r.o.Log(Line{Time: time.Now(), Function: f.Name, RequestID: res.RequestID, Stream: "platform", Text: text})
	}
	if res.FunctionError != "" {
		line(fmt.Sprintf("ERROR RequestId: %s %s", res.RequestID, res.Payload))
	}
	line("END RequestId: " + res.RequestID)
	memory := "unknown"
	if res.MaxMemoryMB >= 0 {
		memory = fmt.Sprintf("%d MB", res.MaxMemoryMB)
		if res.MaxMemoryMB > f.Memory {
			memory += " (over the limit: Lambda would have killed it)"
		}
	}
	text := fmt.Sprintf("REPORT RequestId: %s\tDuration: %.2f ms\tBilled Duration: %d ms\tMemory Size: %d MB\tMax Memory Used: %s",
		res.RequestID, milliseconds(res.Duration), (res.Duration+res.Init+time.Millisecond-1)/time.Millisecond, f.Memory, memory)
	if res.Init > 0 {
		text += fmt.Sprintf("\tInit Duration: %.2f ms", milliseconds(res.Init))
	}
	line(text)
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
