package capture

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf16"
)

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
