package phrase

import (
	"strings"
	"unicode"
)

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
			words, from = append(words, spell(string(runes[from:i]))), i
		}
	}
	text := strings.Join(append(words, spell(string(runes[from:]))), " ")
	return strings.Replace(text, "auto scaling group", "ASG", 1) // as EKS itself shortens it in other codes
}

// spell writes a word small, and a name of AWS as AWS writes it.
func spell(word string) string {
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
