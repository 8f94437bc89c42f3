package policy

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	const document = `{"Version":"2012-10-17","Statement":{"Sid":"A","Effect":"allow","Principal":{"Service":"ec2.amazonaws.com","AWS":["1","2"]},
		"NotAction":["sts:*"],"Resource":"*","Condition":{"Bool":{"aws:SecureTransport":true},"NumericLessThan":{"s3:max-keys":[10,"20"]}}}}`
	want := Document{Statements: []Statement{{
		Sid: "A", Place: 1, Actions: []string{"sts:*"}, ExceptActions: true, Resources: []string{"*"},
		Principals: []Principal{{"AWS", "1"}, {"AWS", "2"}, {"Service", "ec2.amazonaws.com"}},
		Conditions: []Condition{{"Bool", "aws:SecureTransport", []string{"true"}}, {"NumericLessThan", "s3:max-keys", []string{"10", "20"}}},
	}}}
	for name, text := range map[string]string{"plain": document, "encoded": url.PathEscape(document), "with space around": "\n " + document + "\n"} {
		got, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestParseKeepsAPlusSign(t *testing.T) {
	got, err := Parse("%7B%22Statement%22%3A%7B%22Effect%22%3A%22Deny%22%2C%22Action%22%3A%22a+b%22%7D%7D")
	if err != nil || got.Statements[0].Actions[0] != "a+b" {
		t.Errorf("Parse = %+v, %v, want the action a+b: IAM encodes a space as %%20", got, err)
	}
}

func TestParseRefusesNoise(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":               "",
		"text":                  "AccessDenied",
		"bad encoding":          "%7",
		"null":                  "null",
		"list":                  "[]",
		"no statement":          `{"Version":"2012-10-17"}`,
		"empty statement":       `{"Statement":[]}`,
		"null statement":        `{"Statement":[null]}`,
		"no effect":             `{"Statement":{"Action":"*"}}`,
		"unknown effect":        `{"Statement":{"Effect":"Permit","Action":"*"}}`,
		"no action":             `{"Statement":{"Effect":"Allow","Resource":"*"}}`,
		"both actions":          `{"Statement":{"Effect":"Allow","Action":"a:b","NotAction":"a:c"}}`,
		"both resources":        `{"Statement":{"Effect":"Allow","Action":"a:b","Resource":"*","NotResource":"x"}}`,
		"both principals":       `{"Statement":{"Effect":"Allow","Action":"a:b","Principal":"*","NotPrincipal":"*"}}`,
		"numeric action":        `{"Statement":{"Effect":"Allow","Action":3}}`,
		"a principal by name":   `{"Statement":{"Effect":"Allow","Action":"a:b","Principal":"ec2.amazonaws.com"}}`,
		"an empty principal":    `{"Statement":{"Effect":"Allow","Action":"a:b","Principal":{}}}`,
		"condition of objects":  `{"Statement":{"Effect":"Allow","Action":"a:b","Condition":{"Bool":{"k":{"v":1}}}}}`,
		"more after the end":    `{"Statement":{"Effect":"Allow","Action":"a:b"}} {}`,
		"cut off in the middle": `{"Statement":{"Effect":"Allow","Acti`,
		"endless":               strings.Repeat("x", maxDocument+1),
	} {
		if got, err := Parse(text); err == nil {
			t.Errorf("%s: Parse = %+v, want an error", name, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"Statement":[{"Action":"*","Effect":"Allow","Principal":"*","Resource":"*"}]}`, "ec2:DescribeInstances", "*")
	f.Add(`%7B%22Statement%22%3A%7B%22Effect%22%3A%22Deny%22%2C%22NotAction%22%3A%22sts%3A%2A%22%7D%7D`, "sts:AssumeRole", "")
	f.Add(`{"Statement":{"Effect":"Allow","Action":["ec2:Create?ags"],"Resource":"arn:aws:ec2:*:*:network-interface/*","Condition":{"StringLikeIfExists":{"aws:PrincipalArn":"*${a"}}}}`, "ec2:CreateTags", "arn:aws:ec2:us-west-2:1:network-interface/*")
	f.Fuzz(func(t *testing.T, text, action, resource string) {
		d, err := Parse(text)
		if err != nil {
			if len(d.Statements) > 0 {
				t.Errorf("an error and statements: %+v", d)
			}
			return
		}
		r := Request{Action: action, Resource: resource, Caller: Caller{ARN: "arn:aws:iam::1:role/a/b"}}
		got := d.Decide(r)
		if got.Verdict == Depends && len(got.On) == 0 {
			t.Errorf("%+v hangs on nothing", got)
		}
		deny := Document{Statements: []Statement{{Place: 1, Deny: true, Actions: []string{"*"}, Resources: []string{"*"}}}}
		if got := Effective([]Document{d, deny}, nil, r); got.Verdict != Denied {
			t.Errorf("with everything denied: %v", got)
		}
		allow := Document{Statements: []Statement{{Place: 1, Actions: []string{"*"}, Resources: []string{"*"}}}}
		if within := Effective([]Document{d}, []Document{allow}, r); within.Verdict != got.Verdict {
			t.Errorf("a boundary that allows all changes %v to %v", got, within)
		}
	})
}
