package userdata

import (
	"strings"
	"testing"
)

func TestMultipart(t *testing.T) {
	const config = "application/node.eks.aws\n\n" + plain
	const script = "text/x-shellscript; charset=\"us-ascii\"\n\n#!/bin/bash\necho hello\n"
	multi := func(change func(*Document)) Document {
		return with(whole(), func(d *Document) { d.Multipart = true; change(d) })
	}
	tests := []struct {
		name string
		text string
		want Document
	}{
		{"a script first", mixed(script, config), multi(func(d *Document) { d.Kinds = []Kind{Shell, NodeConfig} })},
		{"no empty line behind a header", mixed("text/x-shellscript\n#!/bin/bash\n", config), multi(func(d *Document) {
			d.Kinds = []Kind{Shell, NodeConfig}
			d.Faults = []Fault{{Kind: BadMIME, Part: 1, Detail: "the header of part 1 is not ended by an empty line"}}
		})},
		{"no closing boundary", strings.Replace(mixed(config), "--//--\n", "", 1), multi(func(d *Document) {
			d.Faults = []Fault{{Kind: BadMIME, Detail: "the closing boundary --//-- is missing"}}
		})},
		{"empty lines before the header", "\n\n" + mixed(config), multi(func(d *Document) {
			d.Faults = []Fault{{Kind: BadMIME, Line: 1, Detail: "empty lines or spaces stand before the header"}}
		})},
		{"what is behind the closing boundary is not read", strings.Replace(mixed(script, config), "echo hello\n", "echo hello\n--//--\n", 1),
			Document{Kinds: []Kind{Shell}, Multipart: true}},
		{"no boundary", strings.Replace(mixed(config), `; boundary="//"`, "", 1), Document{
			Multipart: true, Faults: []Fault{{Kind: BadMIME, Line: 1, Detail: "Content-Type names no boundary"}},
		}},
		{"no parts", mixed(), Document{Multipart: true}},
		{"a multi-part in a multi-part", mixed("multipart/mixed; boundary=in\n\n--in\nContent-Type: " + config + "--in--\n"), multi(func(d *Document) { d.Nested = true })},
		{"a part without a type", strings.Replace(mixed("x\n\n#!/bin/sh\n/etc/eks/bootstrap.sh prod\n"), "Content-Type: x\n", "", 1),
			Document{Kinds: []Kind{Bootstrap}, Multipart: true, Name: given("prod"), Calls: 1, Describes: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { check(t, []byte(tt.text), tt.want) })
	}
}

func FuzzMultipart(f *testing.F) {
	f.Add(mixed("application/node.eks.aws\n\n"+plain, "text/x-shellscript\n#!/bin/bash\n"))
	f.Add("Content-Type: multipart/mixed; boundary=a\n\n--a\nContent-Type: multipart/mixed; boundary=a\n\n--a\n--a--\n--a--")
	f.Fuzz(func(t *testing.T, text string) {
		newReader().multipart([]byte(text))
	})
}
