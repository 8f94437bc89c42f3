package queue

import (
	"strings"
	"time"
	"unicode/utf8"

	"rollcall/local/platform/wire"
)

func invalid(format string, args ...any) *wire.Error {
	return wire.Errorf("InvalidParameterValueException", format, args...)
}

func missing(name string) *wire.Error {
	return wire.Errorf("MissingRequiredParameterException", "The request must contain the parameter %s.", name)
}

// check tells if SQS would take the message.
func (s *store) check(m *message, delay time.Duration) *wire.Error {
	if m.body == "" {
		return missing("MessageBody")
	}
	if !allowedText(m.body) {
		return wire.Errorf("InvalidMessageContents", "The message contains characters outside the allowed set.")
	}
	if m.size() > s.MaxBytes {
		return invalid("One or more parameters are invalid. Reason: Message must be shorter than %d bytes.", s.MaxBytes)
	}
	if len(m.attributes) > 10 {
		return invalid("Number of message attributes [%d] exceeds the allowed maximum [10].", len(m.attributes))
	}
	for name, a := range m.attributes {
		if a.DataType == nil || (a.StringValue == nil && len(a.BinaryValue) == 0) {
			return invalid("The message attribute '%s' must contain a non-empty type and value.", name)
		}
		base, _, _ := strings.Cut(*a.DataType, ".")
		if base != "String" && base != "Number" && base != "Binary" {
			return invalid("The type of message (user) attribute '%s' is invalid. You must use only the following supported type prefixes: Binary, Number, String.", name)
		}
	}
	if delay < 0 || delay > maxDelay {
		return invalid("Value %d for parameter DelaySeconds is invalid. Reason: DelaySeconds must be >= 0 and <= 900.", int(delay/time.Second))
	}
	if !s.FIFO {
		if m.dedup != "" {
			return invalid("The request include parameter MessageDeduplicationId which is not valid for this queue type")
		}
		return nil
	}
	switch {
	case m.group == "":
		return missing("MessageGroupId")
	case delay != 0:
		return invalid("Value %d for parameter DelaySeconds is invalid. Reason: The request include parameter that is not valid for this queue type.", int(delay/time.Second))
	case m.dedup == "" && !s.ContentDedup:
		return invalid("The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly")
	case !fifoID(m.group):
		return invalid("MessageGroupId can only include alphanumeric and punctuation characters. 1 to 128 in length")
	case m.dedup != "" && !fifoID(m.dedup):
		return invalid("MessageDeduplicationId can only include alphanumeric and punctuation characters. 1 to 128 in length")
	}
	return nil
}

// size is what SQS counts: the body and the attributes.
func (m *message) size() int {
	n := len(m.body)
	for name, a := range m.attributes {
		n += len(name) + len(a.BinaryValue)
		if a.DataType != nil {
			n += len(*a.DataType)
		}
		if a.StringValue != nil {
			n += len(*a.StringValue)
		}
	}
	return n
}

// allowedText tells if all characters are in the set of the SendMessage
// documentation: #x9 | #xA | #xD | #x20 to #xD7FF | #xE000 to #xFFFD |
// #x10000 to #x10FFFF.
func allowedText(s string) bool {
	if !utf8.ValidString(s) {
		return false
	}
	for _, r := range s {
		if r < 0x20 && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF {
			return false
		}
	}
	return true
}

// fifoID tells if s may be a group or deduplication id: up to 128 ASCII
// letters, digits and punctuation characters.
func fifoID(s string) bool {
	if len(s) == 0 || len(s) > 128 {
		return false
	}
	for i := 0; i < len(s); i++ {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
