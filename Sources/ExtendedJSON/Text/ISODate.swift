/// Times as ISO 8601 writes them, in the Gregorian calendar.
package enum ISODate {
    private static let millisecondsPerDay: Int64 = 86_400_000
    /// The times that have a text: of the years 1970 to 9999, as Extended JSON has it.
    private static let written: ClosedRange<Int64> = 0...253_402_300_799_999

    /// The text in UTC, with milliseconds if there are any; nil for times that have none.
    package static func text(_ milliseconds: Int64) -> String? {
        guard written.contains(milliseconds) else { return nil }
        let (year, month, day) = civil(days: milliseconds / millisecondsPerDay)
        let time = milliseconds % millisecondsPerDay
        func digits(_ value: Int64, _ count: Int) -> String {
            let text = String(value)
            return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
        }
        let date = "\(digits(year, 4))-\(digits(month, 2))-\(digits(day, 2))"
        let hours = time / 3_600_000
        let clock = "\(digits(hours, 2)):\(digits(time / 60_000 % 60, 2)):\(digits(time / 1_000 % 60, 2))"
        return "\(date)T\(clock)\(time % 1_000 == 0 ? "" : ".\(digits(time % 1_000, 3))")Z"
    }

    /// Reads a date and time with a zone, `Z` or an offset. Digits beyond milliseconds are left out.
    ///
    /// - Returns: milliseconds of Unix time; nil for another text, and for a date that does not exist.
    package static func milliseconds(_ text: [UInt8]) -> Int64? {
        var reader = Reader(rest: text[...])
        guard let year = reader.digits(4), reader.take("-"), let month = reader.digits(2), reader.take("-"),
            let day = reader.digits(2), reader.take("T"), let hour = reader.digits(2), reader.take(":"),
            let minute = reader.digits(2), reader.take(":"), let second = reader.digits(2)
        else { return nil }
        guard (1...12).contains(month), day >= 1, day <= length(ofMonth: month, year), hour < 24, minute < 60,
            second < 60
        else { return nil }
        guard let fraction = reader.fraction(), let offset = reader.offset(), reader.rest.isEmpty else { return nil }
        let days = days(year, month, day)
        return days * millisecondsPerDay + ((hour * 60 + minute - offset) * 60 + second) * 1_000 + fraction
    }

    private struct Reader {
        var rest: ArraySlice<UInt8>

        mutating func take(_ character: Character) -> Bool {
            guard let byte = rest.first, byte == character.asciiValue else { return false }
            rest = rest.dropFirst()
            return true
        }

        mutating func digits(_ count: Int) -> Int64? {
            let digits = rest.prefix(count)
            guard digits.count == count, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            rest = rest.dropFirst(count)
            return digits.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
        }

        /// Milliseconds behind a point, up to nine digits; 0 without a point.
        mutating func fraction() -> Int64? {
            guard take(".") else { return 0 }
            let digits = rest.prefix { (0x30...0x39).contains($0) }
            guard (1...9).contains(digits.count) else { return nil }
            rest = rest.dropFirst(digits.count)
            let padded = Array(digits.prefix(3)) + [UInt8](repeating: 0x30, count: max(0, 3 - digits.count))
            return padded.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
        }

        /// Minutes ahead of UTC.
        mutating func offset() -> Int64? {
            if take("Z") { return 0 }
            let isNegative = rest.first == UInt8(ascii: "-")
            guard take("+") || take("-"), let hours = digits(2), hours < 24 else { return nil }
            _ = take(":")
            guard let minutes = digits(2), minutes < 60 else { return nil }
            return (isNegative ? -1 : 1) * (hours * 60 + minutes)
        }
    }

    private static func length(ofMonth month: Int64, _ year: Int64) -> Int64 {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        default: 31
        }
    }

    /// The days from 1970-01-01 to a date. Years begin with March here, so that leap days come last.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let year = month > 2 ? year : year - 1
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func civil(days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let days = days + 719_468
        let era = days / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }
}
