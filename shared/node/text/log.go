package text

import (
	"bufio"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"rollcall/shared/checkid"
)

// MaxPasted is how long a text may be that Tell reads as a whole, in bytes. A longer
// one is a log.
const MaxPasted = maxText

const (
	// longestLine is how much of a line is read: the longest that a kubelet writes, an
	// error with the object in it, has some 10 KB.
	longestLine = 32 << 10
	// mostForms is how many lines of different form are told, half a millisecond each.
	// A month of a kubelet's journal has some 2,000.
	mostForms = 10_000
)

// Log is what the lines of a log tell.
type Log struct {
	Lines int
	// Told is one line for each check, those that tell a cause first, then how it
	// shows; of those the one that came first in the log.
	Told []Line
	// Unread are lines of forms beyond the most that are told.
	Unread int
	// Cut are lines of which only the begin was read.
	Cut int
}

// Line is the first line of a log that tells of a check.
type Line struct {
	Told
	Number int // from 1
	Text   string
	// Count is how many lines tell of the check.
	Count int
}

// ReadLog reads a log line by line, in memory that does not grow with it. Lines that
// differ in numbers and ids alone are told once. The error is the reader's.
func ReadLog(r io.Reader) (Log, error) { return readLog(r, mostForms) }

// readLog tells so many forms of lines at most.
func readLog(r io.Reader, most int) (Log, error) {
	in := bufio.NewReaderSize(r, longestLine)
	seed := maphash.MakeSeed()
	forms := map[uint64]int{} // 0 is a form that tells nothing, else the place in told, from 1
	var l Log
	for {
		line, cut, err := nextLine(in)
		if len(line) > 0 || cut {
			l.Lines++
			if cut {
				l.Cut++
			}
			l.take(line, forms, most, seed)
		} else if err == nil {
			l.Lines++ // an empty one
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Log{}, fmt.Errorf("read the log: %w", err)
		}
	}
	slices.SortStableFunc(l.Told, func(a, b Line) int { return b.weight() - a.weight() })
	return l, nil
}

// nextLine reads a line without its end, of a longer one the begin. What it returns
// is overwritten by the next call.
func nextLine(in *bufio.Reader) (line []byte, cut bool, err error) {
	line, err = in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		line = slices.Clone(line)
		for cut = true; errors.Is(err, bufio.ErrBufferFull); {
			_, err = in.ReadSlice('\n')
		}
		return line, cut, err
	}
	if n := len(line); n > 0 && line[n-1] == '\n' {
		line = line[:n-1]
	}
	return line, false, err
}

// take tells a line, unless one of its form was told.
func (l *Log) take(line []byte, forms map[uint64]int, most int, seed maphash.Seed) {
	if !utf8.Valid(line) && noise(line) {
		return
	}
	f := form(line, seed)
	place, seen := forms[f]
	if !seen {
		if len(forms) == most {
			l.Unread++
			return
		}
		place = l.tell(string(line))
		forms[f] = place
	}
	if place > 0 {
		l.Told[place-1].Count++
	}
}

// tell tells a line, and returns its place in Told, from 1: 0 where it tells nothing.
func (l *Log) tell(line string) int {
	t := Tell(line)
	if t.Check == "" || t.Check == checkid.LaunchUnclassified {
		return 0
	}
	if i := slices.IndexFunc(l.Told, func(o Line) bool { return o.Check == t.Check }); i >= 0 {
		return i + 1
	}
	l.Told = append(l.Told, Line{Told: t, Number: l.Lines, Text: strings.ToValidUTF8(line, "�")})
	return len(l.Told)
}

// noise tells that a line is not of a text: more than one byte in eight that no text
// has.
func noise(line []byte) bool {
	bad := 0
	for _, b := range line {
		if b < ' ' && b != '\t' && b != '\r' && b != '\x1b' || b == 0x7f {
			bad++
		}
	}
	return bad*8 > len(line)
}

// form is a line's hash without what differs from one to the next: words with a digit
// in them, which are times, addresses, ids and counts.
func form(line []byte, seed maphash.Seed) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	begin, digit := 0, false
	word := func(end int) {
		if digit {
			h.WriteByte('#')
		} else {
			h.Write(line[begin:end])
		}
	}
	for i, b := range line {
		switch {
		case b >= '0' && b <= '9':
			digit = true
		case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b >= utf8.RuneSelf:
		default:
			word(i)
			h.WriteByte(b)
			begin, digit = i+1, false
		}
	}
	word(len(line))
	return h.Sum64()
}
