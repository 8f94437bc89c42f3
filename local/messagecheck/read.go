// Package messagecheck reads a Slack message as a person does, and says which of its
// numbers and times contradict each other, or the world that it is about. It knows
// nothing of how a message is made: what it holds a number against is counted in the
// world, beside the code that counts it for the message.
package messagecheck

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Line is a paragraph, a row of a list, a picture's words or a button's question.
type Line struct {
	// Label is the bold word at its beginning: "Impact", "Why". The first line has none.
	Label string
	// Text is what follows. A time that is shown in the reader's zone is 15:04.
	Text string
	// Times are those times, in their order.
	Times []time.Time
	// Copied tells that it is to be copied, or set as it came: a command, a log.
	Copied bool
}

// part is a block of Slack's, or an element of one, as far as it is read
// (docs.slack.dev/reference/block-kit/blocks).
type part struct {
	Type     string
	Text     json.RawMessage
	Alt      string `json:"alt_text"`
	Elements []part
	Rows     [][]part // of a table
	Confirm  *struct{ Text struct{ Text string } }
	Style    json.RawMessage
	Stamp    int64 `json:"timestamp"`
}

// ErrUnread: a message has a block that is not read, so that its numbers would not be held.
var ErrUnread = errors.New("the block is not read")

// Read is a message line by line. Blocks are as they were sent.
func Read(blocks []byte) ([]Line, error) {
	var list []part
	if err := json.Unmarshal(blocks, &list); err != nil {
		return nil, fmt.Errorf("read the blocks: %w", err)
	}
	var lines []Line
	for _, b := range list {
		var err error
		if lines, err = b.read(lines); err != nil {
			return nil, err
		}
	}
	return lines, nil
}

func (p part) read(lines []Line) ([]Line, error) {
	switch p.Type {
	case "rich_text", "rich_text_list", "actions":
		for _, e := range p.Elements {
			var err error
			if lines, err = e.read(lines); err != nil {
				return nil, err
			}
		}
	case "table":
		for _, row := range p.Rows {
			l, err := tableRow(row)
			if err != nil {
				return nil, err
			}
			lines = append(lines, l)
		}
	case "rich_text_section", "rich_text_preformatted":
		l := Line{Copied: p.Type == "rich_text_preformatted"}
		for n, e := range p.Elements {
			if n == 0 && e.bold() && len(lines) > 0 {
				l.Label = strings.TrimRight(e.text(), "\u2002\u2003 ")
				continue
			}
			if e.Type == "date" {
				at := time.Unix(e.Stamp, 0).UTC()
				l.Times = append(l.Times, at)
				l.Text += at.Format("15:04")
				continue
			}
			l.Text += e.text()
		}
		lines = append(lines, l)
	case "image":
		lines = append(lines, Line{Label: "Picture", Text: p.Alt})
	case "button", "static_select", "overflow":
		if p.Confirm != nil {
			lines = append(lines, Line{Label: Asked, Text: p.Confirm.Text.Text})
		}
	default:
		return nil, fmt.Errorf("%q: %w", p.Type, ErrUnread)
	}
	return lines, nil
}

// Asked labels what a dialog asks before a button does anything.
const Asked = "Button"

// tableRow is a row as one line: its cells are raw_text or rich_text
// (docs.slack.dev/reference/block-kit/blocks/table-block).
func tableRow(cells []part) (Line, error) {
	row := Line{Label: "Row"}
	var texts []string
	for _, cell := range cells {
		if cell.Type == "raw_text" {
			texts = append(texts, cell.text())
			continue
		}
		lines, err := cell.read(nil)
		if err != nil {
			return Line{}, err
		}
		for _, l := range lines {
			texts, row.Times = append(texts, l.Text), append(row.Times, l.Times...)
		}
	}
	row.Text = strings.Join(texts, " | ")
	return row, nil
}

func (p part) bold() bool {
	var style struct{ Bold bool }
	return len(p.Style) > 0 && json.Unmarshal(p.Style, &style) == nil && style.Bold
}

// text is the part's own, be it a string or an object of Slack's.
func (p part) text() string {
	var text string
	if len(p.Text) == 0 || json.Unmarshal(p.Text, &text) != nil {
		return ""
	}
	return text
}
