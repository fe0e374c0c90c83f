mod parsing;
