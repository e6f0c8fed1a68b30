import RealmState
import TestSupport
import Testing

@testable import Query

@Suite struct NumberTextTests {
    @Test(arguments: [
        (0.1, 17, "0.10000000000000001"), (1.0, 17, "1"), (1e17, 17, "1e+17"), (123456789, 6, "1.23457e+08"),
        (Double.leastNonzeroMagnitude, 17, "4.9406564584124654e-324"), (-0.00012, 6, "-0.00012"), (1e-5, 6, "1e-05"),
        (100, 6, "100"),
        (2.5, 6, "2.5"), (999999.5, 6, "1e+06"), (-0.0, 17, "-0"), (.infinity, 6, "inf"), (.nan, 6, "nan"),
        (1.7976931348623157e308, 17, "1.7976931348623157e+308"), (0.5, 0 + 1, "0.5"), (9.995, 3, "9.99"),
    ])
    func numbersAreWrittenAsPrintfDoes(value: Double, digits: Int, text: String) {
        expectEqual(NumberText.text(value, digits: digits), text)
    }

    @Test(arguments: [
        ("1.50", "1.50"), ("1E3", "1E3"), ("15E3", "1.5E4"), ("0.1", "1E-1"), ("-20.50", "-20.50"), ("inf", "Inf"),
        ("-infinity", "-Inf"), ("9999999999999999999999999999999999E6111", "+9999999999999999999999999999999999E+6111"),
        ("1E-6176", "1E-6176"), ("12345678901234567890123456789012345", "+1234567890123456789012345678901234E+1"),
        ("1e7000", "Inf"), ("1e-7000", "0E-6176"),
    ])
    func decimalsAreReadAndWritten(written: String, text: String) {
        expectEqual(DecimalNumber(parsing: Array(written.utf8))?.queryText, text)
        expectEqual(DecimalNumber(parsing: Array(written.utf8)).map { DecimalNumber($0.value).queryText }, text)
    }

    @Test(arguments: ["", "-", "1e", "1.2.3", "e5", "nan", "12x", "1e+"])
    func textsThatAreNoDecimalAreRefused(text: String) {
        expectTrue(DecimalNumber(parsing: Array(text.utf8)) == nil)
    }

    @Test(arguments: [
        ("1.5", "+", "0.25", "1.75"), ("1", "-", "1E-1", "9E-1"),
        ("1", "/", "3", "+3333333333333333333333333333333333E-34"),
        ("2", "/", "3", "+6666666666666666666666666666666667E-34"), ("6", "/", "2", "3"), ("1E34", "+", "1", "1.0E34"),
        (
            "9999999999999999999999999999999999", "*", "9999999999999999999999999999999999",
            "+9999999999999999999999999999999998E+34"
        ),
        ("1.20", "*", "3", "3.60"), ("1", "/", "0", "Inf"), ("0", "/", "0", "NaN"), ("inf", "-", "inf", "NaN"),
        ("-1", "*", "inf", "-Inf"), ("1E-6176", "/", "1E10", "0E-6176"),
    ])
    func decimalsAreCalculatedWith34Digits(left: String, op: String, right: String, result: String) throws {
        let left = try #require(DecimalNumber(parsing: Array(left.utf8)))
        let right = try #require(DecimalNumber(parsing: Array(right.utf8)))
        let found =
            switch op {
            case "+": left + right
            case "-": left - right
            case "*": left * right
            default: left / right
            }
        let expected = DecimalNumber(parsing: Array(result.utf8)) ?? .nan
        expectEqual(found.compare(expected), 0, "\(found.queryText)")
    }
}
