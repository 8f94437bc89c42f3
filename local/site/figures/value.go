package figures

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// value is where a figure stands.
type value struct {
	// file of the repository, and the heading under which it stands if the file has several
	// tables of the same columns.
	file, under string
	// like finds it, in a group of its own; in a table it finds rows, and column is the
	// heading of the cell.
	like, column string
	// of makes one of all that is found; without it all that is found is the same.
	of func(found []string) (string, error)
	// is counts what stands in no file.
	is func(root string) (string, error)
}

func (v value) read(root string) (string, error) {
	if v.is != nil {
		return v.is(root)
	}
	found, err := v.found(root)
	if err != nil {
		return "", err
	}
	of := v.of
	if of == nil {
		of = same
	}
	out, err := of(found)
	if err != nil {
		return "", fmt.Errorf("%s: %w", v.file, err)
	}
	return out, nil
}

// found is all that is like it in its file.
func (v value) found(root string) (list []string, err error) {
	raw, err := os.ReadFile(filepath.Join(root, v.file))
	if err != nil {
		return nil, err
	}
	text := string(raw)
	if v.under != "" {
		_, section, found := strings.Cut(text, "\n"+v.under+"\n")
		if !found {
			return nil, fmt.Errorf("%s has no %q", v.file, v.under)
		}
		text, _, _ = strings.Cut(section, "\n## ")
	}
	like, err := regexp.Compile(v.like)
	if err != nil {
		return nil, err
	}
	if v.column != "" {
		list = cells(text, like, v.column)
	} else {
		for _, m := range like.FindAllStringSubmatch(text, -1) {
			list = append(list, m[1:]...)
		}
	}
	list = slices.DeleteFunc(list, func(f string) bool { return f == "–" }) // not measured
	if len(list) == 0 {
		return nil, fmt.Errorf("%s has nothing like %s %s", v.file, v.like, v.column)
	}
	return list, nil
}

// cells are those under a heading, of the rows that are like something.
func cells(text string, like *regexp.Regexp, column string) (list []string) {
	at := -1
	for line := range strings.SplitSeq(text, "\n") {
		row, is := strings.CutPrefix(line, "|")
		if !is {
			at = -1
			continue
		}
		of := strings.Split(row, "|")
		for i := range of {
			of[i] = strings.Trim(of[i], " *")
		}
		switch {
		case at < 0:
			if at = slices.Index(of, column); at < 0 {
				at = len(row) // another table
			}
		case at < len(of) && like.MatchString(line) && !strings.HasPrefix(line, "|---"):
			list = append(list, of[at])
		}
	}
	return list
}

// same is what all are.
func same(found []string) (string, error) {
	if u := slices.Compact(slices.Clone(found)); len(u) != 1 {
		return "", fmt.Errorf("it says several things: %q", u)
	}
	return found[0], nil
}

var number = regexp.MustCompile(`-?\d[\d,_]*(?:\.\d+)?`)

// numbers are the first of each text.
func numbers(found []string) (list []float64, err error) {
	for _, f := range found {
		n, err := strconv.ParseFloat(strings.NewReplacer(",", "", "_", "").Replace(number.FindString(f)), 64)
		if err != nil {
			return nil, fmt.Errorf("%q is no number", f)
		}
		list = append(list, n)
	}
	if len(list) == 0 {
		return nil, errors.New("there is no number")
	}
	return list, nil
}

// each makes one number of all.
func each(of func([]float64) float64, decimals int) func([]string) (string, error) {
	return func(found []string) (string, error) {
		list, err := numbers(found)
		if err != nil {
			return "", err
		}
		n := of(list)
		if math.IsNaN(n) {
			return "", fmt.Errorf("it says several things: %q", found)
		}
		return thousands(n, decimals), nil
	}
}

func sum(list []float64) (all float64) {
	for _, n := range list {
		all += n
	}
	return all
}

func product(list []float64) float64 {
	all := 1.0
	for _, n := range list {
		all *= n
	}
	return all
}

func least(list []float64) float64 { return slices.Min(list) }

func most(list []float64) float64 { return slices.Max(list) }

// times is the one number there is, in another unit.
func times(factor float64) func([]float64) float64 {
	return func(list []float64) float64 {
		if least(list) != most(list) {
			return math.NaN()
		}
		return factor * list[0]
	}
}

// span is "least to most", or one of them where both are the same in so many decimals.
func span(decimals int) func([]string) (string, error) {
	return func(found []string) (string, error) {
		list, err := numbers(found)
		if err != nil {
			return "", err
		}
		from, to := thousands(least(list), decimals), thousands(most(list), decimals)
		if from == to {
			return from, nil
		}
		return from + " to " + to, nil
	}
}

// minutes is "least to most" of durations, in whole minutes, outwards.
func minutes(found []string) (string, error) {
	var list []float64
	for _, f := range found {
		if f == "at once" {
			continue
		}
		d, err := time.ParseDuration(f)
		if err != nil {
			return "", err
		}
		list = append(list, d.Minutes())
	}
	if len(list) == 0 {
		return "", errors.New("there is no time")
	}
	return fmt.Sprintf("%.0f to %.0f", math.Floor(least(list)), math.Ceil(most(list))), nil
}

// thousands is a number as people write it.
func thousands(n float64, decimals int) string {
	text := strconv.FormatFloat(n, 'f', decimals, 64)
	whole, fraction, _ := strings.Cut(text, ".")
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + "," + whole[at:]
	}
	if fraction != "" {
		return whole + "." + fraction
	}
	return whole
}

// halves is a time in minutes as words say it, the next half upwards.
func halves(found []string) (string, error) {
	list, err := numbers(found)
	if err != nil {
		return "", err
	}
	words := []string{"no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"}
	n := int(math.Ceil(list[0] / 30))
	if n/2 >= len(words) {
		return "", fmt.Errorf("%q is too long for the stories", found[0])
	}
	if n%2 == 1 {
		return words[n/2] + " and a half", nil
	}
	return words[n/2], nil
}

// share is the least of some shares, as "95.3 % of 150" has it.
func share(found []string) (string, error) {
	text, err := each(least, 1)(found)
	return text + " %", err
}

// above is how much more than something else, as "+2.9 %" has it; what is not more is no
// such figure.
func above(found []string) (string, error) {
	text, err := same(found)
	if err != nil {
		return "", err
	}
	more, is := strings.CutPrefix(text, "+")
	if !is {
		return "", fmt.Errorf("%q is not above it", text)
	}
	return more, nil
}

// histories are all those of the table: as many for each row.
func histories(root string) (string, error) {
	const page, under = "docs/factor.md", "## Healthy clusters"
	of, err := value{file: page, under: under, like: `([\d,]+) histories of \d+ days each`}.found(root)
	if err != nil {
		return "", err
	}
	kinds, err := value{file: page, under: under, like: `^\|`, column: "histories"}.found(root)
	if err != nil {
		return "", err
	}
	return each(func(list []float64) float64 { return list[0] * float64(len(kinds)) }, 0)(of)
}
