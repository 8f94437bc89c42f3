package userdata

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/mail"
	"net/textproto"
	"strings"
)

// nodeConfigType is the content type of a part for nodeadm.
const nodeConfigType = "application/node.eks.aws"

// multipart reads MIME multi-part, and tells whether the text is that. The
// strict reader is the one that nodeadm has (mail and multipart of the
// standard library): what it refuses, nodeadm refuses. cloud-init, which runs
// the scripts, is more lenient: the parts that the strict reader did not come
// to are still looked at.
func (d *reader) multipart(text []byte) bool {
	content, body, ok := header(text)
	if !ok {
		trimmed := bytes.TrimLeft(text, " \t\r\n")
		if len(trimmed) == len(text) {
			return false
		}
		if content, body, ok = header(trimmed); !ok {
			return false
		}
		d.Faults = append(d.Faults, Fault{Kind: BadMIME, Line: 1, Detail: "empty lines or spaces stand before the header"})
	}
	d.Multipart = true
	d.parts(content, body, 0)
	return true
}

// header takes the header of a multi-part off.
func header(text []byte) (contentType string, body []byte, ok bool) {
	msg, err := mail.ReadMessage(bytes.NewReader(text))
	if err != nil {
		return "", nil, false
	}
	content := msg.Header.Get("Content-Type")
	if !strings.HasPrefix(strings.ToLower(content), "multipart/") {
		return "", nil, false
	}
	rest, err := io.ReadAll(msg.Body)
	if err != nil {
		return "", nil, false
	}
	return content, rest, true
}

func (d *reader) parts(content string, body []byte, depth int) {
	_, params, err := mime.ParseMediaType(content)
	boundary := params["boundary"]
	if err != nil || boundary == "" {
		d.Faults = append(d.Faults, Fault{Kind: BadMIME, Line: 1, Detail: "Content-Type names no boundary"})
		return
	}
	if !d.budget.spend(Work, len(body)) {
		return
	}
	r := multipart.NewReader(bytes.NewReader(body), boundary)
	for number := 1; d.budget.over == nil; number++ {
		part, err := r.NextPart()
		if err == io.EOF {
			// Not errors.Is: an end without the closing boundary is io.EOF
			// too, wrapped, and nodeadm refuses that.
			return
		}
		if err != nil {
			rest := lenient(body, boundary)
			if len(rest) == 0 {
				return // an empty one: nothing in it is lost
			}
			d.broken(err, number, boundary)
			for i, p := range rest {
				if i+1 >= number {
					d.part(p.header, p.body, i+1, depth)
				}
			}
			return
		}
		text, err := io.ReadAll(part)
		if err != nil {
			d.broken(err, number, boundary)
		}
		d.part(part.Header, text, number, depth)
		if err != nil {
			return
		}
	}
}

// broken notes why the strict reader gave up.
func (d *Document) broken(err error, number int, boundary string) {
	f := Fault{Kind: BadMIME, Part: number, Detail: fmt.Sprintf("part %d cannot be read", number)}
	var malformed textproto.ProtocolError
	switch {
	case errors.As(err, &malformed):
		f.Detail = fmt.Sprintf("the header of part %d is not ended by an empty line", number)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		f.Part = 0
		f.Detail = fmt.Sprintf("the closing boundary --%s-- is missing", clip(boundary))
	}
	d.Faults = append(d.Faults, f)
}

func clip(s string) string {
	const limit = 70 // RFC 2046 gives a boundary no more
	if len(s) > limit {
		return s[:limit]
	}
	return s
}

func (d *reader) part(h textproto.MIMEHeader, body []byte, number, depth int) {
	const deepest = 3
	if !d.budget.spend(Parts, 1) {
		return
	}
	if strings.EqualFold(strings.TrimSpace(h.Get("Content-Transfer-Encoding")), "base64") {
		if plain, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(body))); err == nil {
			body = plain
			d.budget.spend(Unpacked, len(plain))
		}
	}
	body, err := d.budget.unpack(body)
	if d.budget.over != nil {
		return
	}
	if err != nil {
		d.Faults = append(d.Faults, Fault{Kind: BadMIME, Part: number, Detail: fmt.Sprintf("part %d cannot be unpacked", number)})
		return
	}
	d.proxy(body)
	content := h.Get("Content-Type")
	kind, _, _ := mime.ParseMediaType(content)
	switch {
	case strings.HasPrefix(kind, "multipart/"):
		if depth < deepest {
			d.parts(content, body, depth+1)
		}
	case kind == nodeConfigType:
		if depth > 0 {
			d.Nested = true
		}
		d.nodeConfig(string(body), number)
	case kind == "text/x-shellscript", kind == "text/cloud-boothook":
		d.shell(string(body))
	case kind == "text/cloud-config":
		d.cloudConfig(string(body))
	default:
		d.text(string(body), number)
	}
}

type piece struct {
	header textproto.MIMEHeader
	body   []byte
}

// lenient splits at the boundary, as the mail parser behind cloud-init does:
// a header ends at the first line that is no header.
func lenient(body []byte, boundary string) []piece {
	var list []piece
	var current *piece
	inHeader := false
	for line := range bytes.Lines(body) {
		bare := strings.TrimRight(string(line), " \t\r\n")
		if bare == "--"+boundary+"--" {
			break
		}
		if bare == "--"+boundary {
			if len(list) > maxParts {
				return list // over budget already
			}
			list = append(list, piece{header: textproto.MIMEHeader{}})
			current, inHeader = &list[len(list)-1], true
			continue
		}
		if current == nil {
			continue
		}
		if inHeader {
			name, value, isHeader := strings.Cut(bare, ":")
			if isHeader && name != "" && !strings.ContainsAny(name, " \t#/") {
				current.header.Add(name, strings.TrimSpace(value))
				continue
			}
			inHeader = false
			if bare == "" {
				continue
			}
		}
		current.body = append(current.body, line...)
	}
	return list
}
