package check

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"rollcall/shared/nodegroup"
)

// The parts of findings' sentences: lists of names, times, titles.

// And joins names for a sentence: "a, b and c".
func And(names []string) string {
	switch len(names) {
	case 0:
		return ""
	case 1:
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// Some joins at most limit names, and says how many more there are.
func Some(names []string, limit int) string {
	if len(names) <= limit {
		return And(names)
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:limit], ", "), len(names)-limit)
}

// Subject is the one id, or how many there are: "subnet-0ab1", "3 subnets".
func Subject(ids []string, noun string) string {
	if len(ids) == 1 {
		return ids[0]
	}
	return fmt.Sprintf("%d %ss", len(ids), noun)
}

// Verb agrees with how many there are.
func Verb(ids []string, one, many string) string {
	if len(ids) == 1 {
		return one
	}
	return many
}

// Minutes writes a span as people say it: "5 min", "90 s".
func Minutes(d time.Duration) string {
	if d%time.Minute == 0 {
		return fmt.Sprintf("%d min", d/time.Minute)
	}
	return fmt.Sprintf("%d s", d.Round(time.Second)/time.Second)
}

// Precisely writes a span in minutes and seconds: "50 s", "1 min 20 s", "2 min".
func Precisely(d time.Duration) string {
	d = d.Round(time.Second)
	whole, rest := d/time.Minute, d%time.Minute/time.Second
	switch {
	case whole == 0:
		return fmt.Sprintf("%d s", rest)
	case rest == 0:
		return fmt.Sprintf("%d min", whole)
	}
	return fmt.Sprintf("%d min %d s", whole, rest)
}

// Clip cuts a text from outside.
func Clip(text string) string {
	const limit = 500
	runes := []rune(text)
	if len(runes) <= limit {
		return text
	}
	return string(runes[:limit-1]) + "…"
}

// DayAndMinute is exact enough for something that a person began.
const DayAndMinute = "2006-01-02 15:04"

func Plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Fares is a status in words, as the end of a sentence about a nodegroup.
func Fares(status string) string {
	switch status {
	case nodegroup.CreateFailed:
		return "could not be created"
	case nodegroup.DeleteFailed:
		return "could not be deleted"
	case nodegroup.Degraded:
		return "is degraded"
	case nodegroup.Active, "":
		return "has an issue"
	}
	return "is " + status
}

// FirstOf is the first of a list, else something else.
func FirstOf(list []string, or string) string {
	if len(list) > 0 {
		return list[0]
	}
	return or
}

func ClockTime(t time.Time) string {
	if t.IsZero() {
		return "an unknown time"
	}
	return t.UTC().Format(time.TimeOnly + " UTC")
}

// Article is a noun with its indefinite article.
func Article(noun string) string {
	if noun != "" && strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}

// Spoken writes a code of EKS as words: "Ec2SubnetNotFound" is "EC2 subnet not
// found". It needs no list of the codes, so that it also reads those that EKS
// adds later; what is no code of joined words stays as it is.
func Spoken(code string) string {
	var words []string
	runes := []rune(code)
	from := 0
	for i, r := range runes {
		if r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return code
		}
		if i == 0 || !unicode.IsUpper(r) {
			continue
		}
		// A capital begins a word, but not within a run of capitals: "KMSKey".
		if next := i+1 < len(runes) && unicode.IsLower(runes[i+1]); !unicode.IsUpper(runes[i-1]) || next {
			words, from = append(words, lowerWord(string(runes[from:i]))), i
		}
	}
	text := strings.Join(append(words, lowerWord(string(runes[from:]))), " ")
	return strings.Replace(text, "auto scaling group", "ASG", 1) // as EKS itself shortens it in other codes
}

// lowerWord writes a word small, and a name of AWS as AWS writes it.
func lowerWord(word string) string {
	switch word {
	case "Ami", "Api", "Asg", "Ec2", "Ecr", "Eni", "Iam", "Id", "Ip", "Kms", "Vpc":
		return strings.ToUpper(word)
	case "Ipv6":
		return "IPv6"
	case "Eks", "EKS":
		return "EKS"
	case "K8s":
		return "Kubernetes"
	}
	if strings.ToUpper(word) == word && len(word) > 1 {
		return word
	}
	return strings.ToLower(word)
}
