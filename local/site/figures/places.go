package figures

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// place is where a page that is written by hand says what was measured: between the two
// groups.
type place struct {
	file string
	like *regexp.Regexp
	is   value
}

const (
	measuredPage = "docs/measured.md"
	storiesPage  = "docs/stories.md"
	eachStory    = "## Each story"
)

// places are all of them but the rows of README.md.
func places(root string) ([]place, error) {
	stories, err := value{file: measuredPage, under: eachStory, like: `^\| [a-z]+ \|`, column: "story"}.found(root)
	if err != nil {
		return nil, fmt.Errorf("list the stories: %w", err)
	}
	at := func(file, like string, is value) place { return place{file, regexp.MustCompile(like), is} }
	bill := value{file: "docs/bill.md", like: `(?m)^## \d+ clusters?, [^:]*: \$([\d.]+) a month$`, of: prices}
	list := []place{
		at(readme, `(It ends by itself after )[a-z ]+?( minutes;)`, playing()),
		at(storiesPage, `(ends by itself after )[a-z ]+?( minutes;)`, playing()),
		at("CONTRIBUTING.md", `(no AWS account \()[a-z ]+?( minutes on two cores, built\))`, playing()),
		at("docs/start.md", "(rollcall demo route\n```\n\n)[A-Z0-9][a-z0-9 ]+?( on a simulated AWS)", value{is: func(root string) (string, error) {
			words, err := length("route").read(root)
			return strings.ToUpper(words[:min(1, len(words))]) + words[min(1, len(words)):], err
		}}),
		at("docs/README.md", `(\| know what it costs \| \[)[^]]+(\]\(bill\.md\))`, bill),
		at("docs/faq.md", `(What does it cost\?\*\* \[)[^]]+(\]\(bill\.md\))`, bill),
		at("docs/faq.md", `(and \[)[^]]+( for 1,000 launches\]\(load\.md\))`, value{file: "docs/load.md", like: `\$([\d.]+) per 1,000 launches`, of: cents}),
		at("docs/deploy.md", `(It costs about \$)[\d.]+( a month, \[counted\]\(bill\.md\))`, value{file: "docs/bill.md", like: `(?m)^## A relay: \$([\d.]+) a month$`}),
		at("docs/deploy.md", `(any bucket there for the program \()\d+( MB\))`,
			value{file: measuredPage, under: "## Functions", like: `^\| relay \|`, column: "package, MB", of: each(times(1), 0)}),
	}
	for _, story := range stories {
		list = append(list, at(storiesPage, "(`make demo STORY="+story+"`, )[a-z0-9 ]+?(: )", length(story)))
	}
	return list, nil
}

// length is how long a story takes by itself, in words.
func length(story string) value {
	return value{file: measuredPage, under: eachStory, like: `^\| ` + story + ` \|`, column: "s", of: spoken}
}

// spoken is a time in seconds as people say it: the nearest five seconds, of more than a
// minute the nearest half.
func spoken(found []string) (string, error) {
	list, err := numbers(found)
	if err != nil {
		return "", err
	}
	if len(list) != 1 || list[0] <= 0 {
		return "", fmt.Errorf("%q is not the time of one story", found)
	}
	five := max(5, int(math.Round(list[0]/5))*5)
	switch half := int(math.Round(list[0] / 30)); {
	case five == 30:
		return "half a minute", nil
	case five == 5 || five == 10:
		return map[int]string{5: "five", 10: "ten"}[five] + " seconds", nil
	case five < 60:
		return strconv.Itoa(five) + " seconds", nil
	case half <= 2:
		return "a minute", nil
	case half == 3:
		return "a minute and a half", nil
	default:
		words, err := halves([]string{strconv.Itoa(30 * half)})
		return words + " minutes", err
	}
}

// prices are "least to most" of what a month costs.
func prices(found []string) (string, error) {
	list, err := numbers(found)
	if err != nil {
		return "", err
	}
	if len(list) < 2 {
		return "", errors.New("there is one bill alone")
	}
	return fmt.Sprintf("$%.2f to $%.2f a month", least(list), most(list)), nil
}

// put puts what was measured into the texts, which it reads where they are not given.
func put(root string, list []place, texts map[string]string) error {
	for _, p := range list {
		text, given := texts[p.file]
		if !given {
			raw, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(p.file)))
			if err != nil {
				return fmt.Errorf("read %s: %w", p.file, err)
			}
			text = string(raw)
		}
		if n := len(p.like.FindAllString(text, -1)); n != 1 {
			return fmt.Errorf("%d places in %s are like %s, want one", n, p.file, p.like)
		}
		is, err := p.is.read(root)
		if err != nil {
			return fmt.Errorf("what %s says: %w", p.file, err)
		}
		// What is put in has a $, which is no group's.
		texts[p.file] = p.like.ReplaceAllString(text, "${1}"+strings.ReplaceAll(is, "$", "$$")+"${2}")
	}
	return nil
}

// cents are dollars as people say so little.
func cents(found []string) (string, error) {
	list, err := numbers(found)
	if err != nil {
		return "", err
	}
	switch n := math.Round(100 * list[0]); {
	case len(list) != 1:
		return "", fmt.Errorf("it says several things: %q", found)
	case n < 1:
		return "less than a cent", nil
	case n == 1:
		return "about a cent", nil
	default:
		return fmt.Sprintf("about %.0f cents", n), nil
	}
}
